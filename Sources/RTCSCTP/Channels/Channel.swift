import RTCWire

/// The state of one channel. Its messages wait in SCTP's queue.
struct Channel {
  enum Phase {
    /// Until the association stands.
    case waiting
    /// Usable; until the peer has acknowledged it everything goes in order, so that nothing overtakes the OPEN (RFC 8832 §6).
    case unacknowledged
    case open
    /// Waiting messages are sent first, then our side of the stream is reset.
    case draining(peerHasReset: Bool)
    /// The reset is asked for or under way.
    case resetting(isOursDone: Bool, isTheirsDone: Bool)
  }

  let parameters: DataChannelParameters
  var stream: StreamID?
  var phase = Phase.waiting
  /// Bytes that waited when they were last looked at.
  var bufferedAmount = 0
  /// The amount that `bufferedAmountChanged` reported last.
  var announcedAmount = 0
  var lowThreshold = 0
  /// Opened by the peer: its label counts against the memory that the peer may use.
  var isCountedName = false

  init(parameters: DataChannelParameters, stream: StreamID?) {
    self.parameters = parameters
    self.stream = stream
  }

  var state: DataChannelState {
    switch phase {
    case .waiting: .connecting
    case .unacknowledged, .open: .open
    case .draining, .resetting: .closing
    }
  }
}
