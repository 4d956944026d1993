package import RTCPrimitives
package import RTCWire

/// Receives one sound: hands every packet over as it comes, under a number that never wraps. Order, gaps and delay are the
/// jitter buffer's.
package struct AudioReceiveStream {
  /// A packet this far from the newest belongs to a stream begun anew (RFC 3550, appendix A.1).
  package static let maximumDropout: Int64 = 3_000
  package static let maximumMisorder: Int64 = 100

  package let ssrc: SSRC
  /// The highest number so far.
  private var newest: Extended<SequenceNumber>
  package private(set) var statistics: ReceptionStatistics
  /// What the newest packet says of its sound; nil when it says nothing.
  package private(set) var level: AudioLevel?

  /// - Parameter numbersFrom: above every number of the track so far.
  package init(ssrc: SSRC, first: SequenceNumber, numbersFrom floor: Int64 = 0) {
    self.ssrc = ssrc
    // One wrap of room below, so that a packet older than the first seen has a number too.
    let base = Extended<SequenceNumber>((floor | 0xFFFF) + 1 + 65_536 + Int64(first.value))
    newest = Extended(base.value - 1)
    statistics = Self.statistics(from: base)
  }

  private static func statistics(from first: Extended<SequenceNumber>) -> ReceptionStatistics {
    ReceptionStatistics(first: first, clockRate: AudioSendStream.clockRate)
  }

  /// No packet so far has a higher number.
  package var newestNumber: Int64 { newest.value }

  package mutating func takeFractionLost() -> UInt8 { statistics.takeFractionLost() }

  /// Takes one packet.
  package mutating func receive(
    _ header: RTPHeader, payload: Span<UInt8>, level: AudioLevel? = nil, now: Timestamp
  ) -> ReceivedAudio {
    let distance = newest.nearest(header.sequenceNumber).value - newest.value
    if distance > Self.maximumDropout || distance < -Self.maximumMisorder {
      // Ahead of all numbers so far, so that what comes now counts as later.
      self = AudioReceiveStream(ssrc: ssrc, first: header.sequenceNumber, numbersFrom: newest.value)
    }
    let number = newest.nearest(header.sequenceNumber)
    statistics.count(number, timestamp: header.timestamp, arrival: now)
    if number >= newest { self.level = level }
    newest = max(newest, number)
    return ReceivedAudio(
      payload: unsafe payload.withUnsafeBytes { unsafe [UInt8]($0) }, number: number.value,
      timestamp: header.timestamp, marker: header.marker, received: now, level: level)
  }
}
