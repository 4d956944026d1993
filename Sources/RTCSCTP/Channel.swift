import RTCPrimitives
import RTCWire

/// One channel's own state: what waits, what has come in part, where it is in its life.
struct Channel {
  enum Phase {
    /// Until the association stands.
    case waiting
    /// Usable; until the peer has acknowledged it everything goes in order, so that nothing overtakes the OPEN (RFC 8832 §6).
    case unacknowledged
    case open
    /// What waits is sent first, then our side of the stream is reset.
    case draining(peerHasReset: Bool)
    /// The reset is asked for or under way.
    case resetting(isOursDone: Bool, isTheirsDone: Bool)
  }

  enum Partial {
    case none
    case collecting([UInt8])
    /// Longer than allowed: the rest of the message is passed over.
    case overlong
  }

  struct Waiting {
    var bytes: [UInt8]
    var payload: PayloadProtocol
    /// What `bufferedAmount` counts of it.
    var size: Int
    var queuedAt: Timestamp
  }

  let parameters: DataChannelParameters
  var stream: StreamID?
  var phase = Phase.waiting
  var partial = Partial.none
  var bufferedAmount = 0
  /// What `bufferedAmountChanged` last said.
  var announcedAmount = 0
  var lowThreshold = 0
  /// Opened by the peer: its label counts against what the peer may make us hold.
  var isCountedName = false
  private var queue: [Waiting] = []
  private var head = 0

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

  var hasWaiting: Bool { head < queue.count }
  var first: Waiting { queue[head] }
  /// How many messages it may send when its turn comes.
  var turn: Int { min(8, max(1, Int(parameters.priority) / 128)) }

  mutating func enqueue(_ waiting: Waiting) {
    queue.append(waiting)
    bufferedAmount += waiting.size
  }

  mutating func removeFirst() {
    bufferedAmount -= queue[head].size
    queue[head].bytes = []
    head += 1
    if head == queue.count || head >= 1024 {
      queue.removeFirst(head)
      head = 0
    }
  }

  mutating func forgetWaiting() {
    queue = []
    head = 0
    bufferedAmount = 0
  }
}
