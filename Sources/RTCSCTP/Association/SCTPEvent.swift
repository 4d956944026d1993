import RTCWire

/// An event of an association, in order.
enum SCTPEvent {
  /// It is established; the number of streams in each direction.
  case connected(streams: Int)
  case message(StreamID, UInt32, [UInt8])
  /// A message is longer than allowed, and was dropped.
  case overlongMessage(StreamID)
  /// Our side of these streams has been reset, or could not be.
  case outgoingReset([StreamID], failed: Bool)
  /// The peer has reset its side of these streams; none named: of all.
  case incomingReset([StreamID])
  /// The peer aborted it, or restarted.
  case aborted
  /// There was no answer.
  case lost
  /// Both sides have shut it down.
  case shutDown
}
