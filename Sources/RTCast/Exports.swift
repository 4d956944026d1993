// One import brings an application everything that broadcasts and calls are made of: the contracts of sources, codecs and
// devices, connections and their statistics, signaling, and the clock that capture times are on.
@_exported public import RTCEngine
@_exported public import RTCMedia
@_exported public import RTCNet
@_exported public import RTCPeer
@_exported public import RTCPrimitives
@_exported public import RTCSCTP
@_exported public import RTCSignaling
@_exported public import RTCSignalingNIO
