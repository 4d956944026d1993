package import RTCPrimitives

/// Counts the values of a receiver report on one source (RFC 3550 §6.4.1, appendices A.3 and A.8).
package struct ReceptionStatistics {
  private var base: Extended<SequenceNumber>
  package private(set) var highest: Extended<SequenceNumber>
  package private(set) var received = 0
  private var expectedBefore = 0
  private var receivedBefore = 0
  /// Inter-arrival jitter in timestamp units, scaled by 16 as in appendix A.8.
  private var scaledJitter: Int64 = 0
  private var lastTransit: Int64?

  private let clockRate: Int64

  /// - Parameter clockRate: hertz of the stream's timestamps.
  package init(first: Extended<SequenceNumber>, clockRate: Int64 = 90_000) {
    base = first
    self.clockRate = clockRate
    highest = Extended(first.value - 1)
  }

  package mutating func count(_ number: Extended<SequenceNumber>, timestamp: RTPTimestamp, arrival: Timestamp) {
    received += 1
    if number > highest { highest = number }
    let ticks = UInt32(truncatingIfNeeded: arrival.ticks(atRate: clockRate))
    let transit = Int64(Int32(bitPattern: ticks &- timestamp.value))
    if let last = lastTransit {
      let difference = abs(Int64(Int32(truncatingIfNeeded: transit - last)))
      scaledJitter += difference - (scaledJitter + 8) >> 4
    }
    lastTransit = transit
  }

  /// The highest sequence number with the count of its wraps above, as reports say it.
  package var reportedHighest: UInt32 { UInt32(truncatingIfNeeded: highest.value - (base.value & ~0xFFFF)) }
  package var expected: Int { Int(highest.value - base.value + 1) }
  /// Cumulative loss, clamped to the field's 24 signed bits.
  package var cumulativeLost: Int { max(-0x80_0000, min(0x7F_FFFF, expected - received)) }
  package var jitter: UInt32 { UInt32(truncatingIfNeeded: max(0, scaledJitter >> 4)) }

  /// The fraction lost since the last call, in 1/256.
  package mutating func takeFractionLost() -> UInt8 {
    let newExpected = expected - expectedBefore
    let lost = newExpected - (received - receivedBefore)
    expectedBefore = expected
    receivedBefore = received
    guard newExpected > 0, lost > 0 else { return 0 }
    return UInt8(min(255, lost * 256 / newExpected))
  }
}
