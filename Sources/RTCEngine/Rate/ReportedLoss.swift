import RTCPrimitives
package import RTCWire

/// The loss between two receiver reports on one source (RFC 3550 §6.4.1).
package struct ReportedLoss {
  package struct Interval: Hashable, Sendable {
    package var expected: Int
    package var lost: Int

    package init(expected: Int, lost: Int) {
      self.expected = expected
      self.lost = lost
    }
  }

  private var last: ReportBlock?

  package init() {}

  /// Nil for the first report, and for one that brings nothing new or cannot be meant.
  package mutating func interval(to block: ReportBlock) -> Interval? {
    defer { last = block }
    guard let last else { return nil }
    let expected = Int(block.highestSequenceNumber) - Int(last.highestSequenceNumber)
    guard (1..<65_536).contains(expected) else { return nil }
    return Interval(expected: expected, lost: Int(block.cumulativeLost) - Int(last.cumulativeLost))
  }
}

/// The rate by the loss of receiver reports alone, for remote peers that give no other feedback
/// (draft-ietf-rmcat-gcc-02 §6).
struct ReportedLossRate {
  private static let leastPackets = 20
  private static let (low, high) = (0.02, 0.10)
  private static let increase = 1.05
  private static let interval = TimeDelta.milliseconds(900)

  private var expected = 0
  private var lost = 0
  private var last: Timestamp?

  /// - Returns: the new rate, when enough packets have been reported on.
  mutating func add(expected: Int, lost: Int, rate: Double, _ now: Timestamp) -> Double? {
    guard (1...1_000_000).contains(expected) else { return nil }
    self.expected = min(self.expected + expected, 10_000_000)
    self.lost += max(0, min(lost, expected))
    guard self.expected >= Self.leastPackets, last.map({ now - $0 >= Self.interval }) ?? true else { return nil }
    let loss = Double(self.lost) / Double(self.expected)
    (self.expected, self.lost, last) = (0, 0, now)
    if loss < Self.low { return rate * Self.increase }
    return loss > Self.high ? rate * (1 - 0.5 * loss) : nil
  }
}
