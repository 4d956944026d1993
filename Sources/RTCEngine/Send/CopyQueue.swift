import RTCPrimitives

/// Small frames that are to be sent once more: their packets' numbers and when.
struct CopyQueue {
  struct Copy {
    var last: SequenceNumber
    var count: Int
    var due: Timestamp
  }

  /// At a hundred frames a second and 10 ms one waits; more are not kept.
  private static let capacity = 8
  private var waiting: [Copy] = []

  init() { waiting.reserveCapacity(Self.capacity) }

  var nextDeadline: Timestamp { waiting.first?.due ?? .distantFuture }

  mutating func add(last: SequenceNumber, count: Int, due: Timestamp) {
    guard waiting.count < Self.capacity else { return }
    waiting.append(Copy(last: last, count: count, due: due))
  }

  mutating func next(_ now: Timestamp) -> Copy? {
    guard let first = waiting.first, first.due <= now else { return nil }
    waiting.removeFirst()
    return first
  }
}
