/// The turns of several senders that share one pacer. Each sends several packets in a row: a run of equal packets to
/// one destination is sent by one call.
package struct RoundRobin {
  /// Packets in a row while others wait.
  package static let maximumRun = 8

  private var current = 0
  private var run = 0

  package init() {}

  /// - Parameters:
  ///   - count: of senders.
  ///   - hasPending: true for those with something to send.
  /// - Returns: the sender of the next packet; nil when none has anything to send.
  package mutating func next(of count: Int, where hasPending: (Int) -> Bool) -> Int? {
    guard count > 0 else { return nil }
    if current < count, run < Self.maximumRun, hasPending(current) {
      run += 1
      return current
    }
    for offset in 1...count {
      let index = (current + offset) % count
      guard hasPending(index) else { continue }
      (current, run) = (index, 1)
      return index
    }
    return nil
  }
}
