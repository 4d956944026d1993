import RTCPrimitives
package import RTCWire

/// Numbers every media packet that leaves (transport-wide sequence numbers) and learns from the far side's feedback
/// which of the video's arrived. Sound takes its numbers from here too, but says little of what the network bears.
package struct TransportSendHistory {
  private typealias Number = Extended<TransportSequenceNumber>

  private var next = Number(0)
  /// The first number no feedback has spoken of yet.
  private var reported = Number(0)
  private var sound = NumberSet()
  private var arrived = NumberSet()
  private var lastFeedback: UInt8?

  package init() {}

  package var hasFeedback: Bool { lastFeedback != nil }
  package var nextNumber: TransportSequenceNumber { next.low }

  package mutating func sent(isAudio: Bool = false) {
    sound[next.value] = isAudio
    arrived[next.value] = false
    next = Number(next.value + 1)
  }

  /// True when feedback has said that this one of the last few thousand packets arrived.
  package func hasArrived(_ number: TransportSequenceNumber) -> Bool {
    let number = next.nearest(number)
    return isRemembered(number) && arrived[number.value]
  }

  /// Counts the video packets `feedback` speaks of for the first time.
  package mutating func receive(_ feedback: consuming TransportFeedback) -> (expected: Int, lost: Int) {
    var expected = 0
    var lost = 0
    let base = next.nearest(feedback.baseSequenceNumber)
    // A receiver reports from one arrival to another: what lies between two reports in a row was lost.
    if let lastFeedback, feedback.feedbackCount == lastFeedback &+ 1, base > reported, base < next {
      for value in reported.value..<base.value where !sound[value] { lost += 1 }
      expected = lost
      reported = base
    }
    lastFeedback = feedback.feedbackCount
    while let status = feedback.next() {
      let number = next.nearest(status.sequenceNumber)
      // A packet that was sent again as it was arrives under its old number.
      if status.arrival != nil, isRemembered(number) { arrived[number.value] = true }
      guard number >= reported, number < next else { continue }  // old news, or never sent
      reported = Number(number.value + 1)
      guard !sound[number.value] else { continue }
      expected += 1
      if status.arrival == nil { lost += 1 }
    }
    return (expected, lost)
  }

  private func isRemembered(_ number: Number) -> Bool {
    number < next && number.value >= max(0, next.value - NumberSet.capacity)
  }
}

/// Some of the last numbers.
private struct NumberSet {
  /// Feedback comes several times a second; by then hardly more packets have left.
  static let capacity: Int64 = 4_096

  private var words = InlineArray<64, UInt64>(repeating: 0)

  subscript(number: Int64) -> Bool {
    get { words[Self.word(number)] & Self.bit(number) != 0 }
    set {
      if newValue {
        words[Self.word(number)] |= Self.bit(number)
      } else {
        words[Self.word(number)] &= ~Self.bit(number)
      }
    }
  }

  private static func word(_ number: Int64) -> Int { Int((number & (capacity - 1)) >> 6) }
  private static func bit(_ number: Int64) -> UInt64 { 1 << UInt64(number & 63) }
}
