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
