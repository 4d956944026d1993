public import RTCWire

/// A pair of SCTP streams of one number, one each way: what a data channel runs on.
public typealias StreamID = RTCWire.StreamID
