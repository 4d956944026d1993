import RTCPrimitives

/// A queue of packets to repeat without a request, as they may have been lost: small frames, and retransmissions. Their
/// numbers and times.
struct CopyQueue {
  struct Copy {
    var last: SequenceNumber
    var count: Int
    var due: Timestamp
    /// How often it was copied.
    var round = 0
    /// A packet that was asked for.
    var isRepair = false
  }

  /// The delay of a copy, since a loss of the original may affect packets directly after it.
  static let delay = TimeDelta.milliseconds(10)
  /// More are not kept.
  private static let capacity = 32
  private var waiting: [Copy] = []

  var nextDeadline: Timestamp { waiting.first?.due ?? .distantFuture }

  /// Queues a copy that is due after the delay, behind all that wait.
  mutating func add(last: SequenceNumber, count: Int, round: Int = 0, isRepair: Bool = false, _ now: Timestamp) {
    guard waiting.count < Self.capacity else { return }
    if waiting.isEmpty { waiting.reserveCapacity(Self.capacity) }
    waiting.append(Copy(last: last, count: count, due: now + Self.delay, round: round, isRepair: isRepair))
  }

  /// Takes out the first whose time has come.
  mutating func next(_ now: Timestamp) -> Copy? {
    guard let first = waiting.first, first.due <= now else { return nil }
    waiting.removeFirst()
    return first
  }
}
