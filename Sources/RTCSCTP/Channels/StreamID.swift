public import RTCWire

/// A pair of SCTP streams with the same number, one in each direction, which carries a data channel.
public typealias StreamID = RTCWire.StreamID
