import RTCPrimitives
package import RTCWire

/// Numbers every media packet that leaves (transport-wide sequence numbers) and learns from the far side's feedback
/// which of them arrived.
package struct TransportHistory {
  private var next = Extended<TransportSequenceNumber>(0)
  /// The first number no feedback has spoken of yet.
  private var reported = Extended<TransportSequenceNumber>(0)
  private var lastFeedback: UInt8?

  package init() {}

  package var hasFeedback: Bool { lastFeedback != nil }
  package var nextNumber: TransportSequenceNumber { next.low }
  /// The first number no feedback has spoken of yet.
  package var firstUnreported: TransportSequenceNumber { reported.low }
  /// True when feedback has spoken of everything that left.
  package var isAllReported: Bool { reported == next }

  package mutating func sent() { next = Extended(next.value + 1) }

  /// Counts the packets `feedback` speaks of for the first time.
  package mutating func receive(_ feedback: consuming TransportFeedback) -> (expected: Int, lost: Int) {
    var expected = 0
    var lost = 0
    let base = next.nearest(feedback.baseSequenceNumber)
    // A receiver reports from one arrival to another: what lies between two reports in a row was lost.
    if let lastFeedback, feedback.feedbackCount == lastFeedback &+ 1, base > reported, base < next {
      lost = Int(base.value - reported.value)
      expected = lost
      reported = base
    }
    lastFeedback = feedback.feedbackCount
    while let status = feedback.next() {
      let number = next.nearest(status.sequenceNumber)
      guard number >= reported, number < next else { continue }  // old news, or never sent
      expected += 1
      if status.arrival == nil { lost += 1 }
      reported = Extended(number.value + 1)
    }
    return (expected, lost)
  }
}
