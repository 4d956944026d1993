import RTCWire

/// What happened to an association, in order.
enum SCTPEvent {
  /// It stands; so many streams can be used both ways.
  case connected(streams: Int)
  case message(StreamID, UInt32, [UInt8])
  /// A message is longer than allowed, and was dropped.
  case overlongMessage(StreamID)
  /// Our side of these streams has been reset, or could not be.
  case outgoingReset([StreamID], failed: Bool)
  /// The peer has reset its side of these streams; none named: of all.
  case incomingReset([StreamID])
  /// The peer ended it at once, or began anew.
  case aborted
  /// Nothing was answered.
  case lost
  /// Both sides have ended it in good order.
  case shutDown
}
