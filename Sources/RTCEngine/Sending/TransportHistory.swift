import RTCPrimitives
import RTCWire

/// Numbers every media packet that leaves (transport-wide sequence numbers) and learns from the far side's feedback
/// which of them arrived.
struct TransportHistory {
  private var next = Extended<TransportSequenceNumber>(0)
  /// The first number no feedback has spoken of yet.
  private var reported = Extended<TransportSequenceNumber>(0)
  private(set) var hasFeedback = false

  var nextNumber: TransportSequenceNumber { next.low }

  mutating func sent() { next = Extended(next.value + 1) }

  /// Counts the packets `feedback` speaks of for the first time.
  mutating func receive(_ feedback: consuming TransportFeedback) -> (expected: Int, lost: Int) {
    hasFeedback = true
    var expected = 0
    var lost = 0
    while let status = feedback.next() {
      let number = reported.nearest(status.sequenceNumber)
      guard number >= reported, number < next else { continue }  // old news, or never sent
      expected += 1
      if status.arrival == nil { lost += 1 }
      reported = Extended(number.value + 1)
    }
    return (expected, lost)
  }
}
