package import RTCPrimitives
package import RTCWire

/// Receives one sound: hands every packet over as it comes, under a number that never wraps. Order, gaps and delay are the
/// jitter buffer's.
package struct AudioReceiveStream {
  /// A packet this far from the newest belongs to a restarted stream (RFC 3550, appendix A.1).
  package static let maximumDropout: Int64 = 3_000
  package static let maximumMisorder: Int64 = 100

  package let ssrc: SSRC
  /// The highest number so far.
  private var newest: Extended<SequenceNumber>
  /// Which of the 64 packets up to the newest have arrived or were restored; the lowest bit is the newest.
  private var present: UInt64 = 0
  /// Packets restored from copies in later ones.
  package private(set) var packetsRecovered = 0
  package private(set) var statistics: ReceptionStatistics
  /// The sound level in the newest packet; nil if it has none.
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
      // Above all numbers so far, so that further packets count as later.
      self = AudioReceiveStream(ssrc: ssrc, first: header.sequenceNumber, numbersFrom: newest.value)
    }
    let number = newest.nearest(header.sequenceNumber)
    statistics.count(number, timestamp: header.timestamp, arrival: now)
    if number >= newest { self.level = level }
    note(number)
    return ReceivedAudio(
      payload: unsafe payload.withUnsafeBytes { unsafe [UInt8]($0) }, number: number.value,
      timestamp: header.timestamp, marker: header.marker, received: now, level: level)
  }

  /// Takes one packet of several blocks: its own sound, and that of earlier packets.
  /// - Parameter codec: the payload type of blocks of sound.
  /// - Returns: the packet's own sound, and earlier packets that had not arrived; nil if there is none.
  package mutating func receive(
    _ header: RTPHeader, _ blocks: REDBlocks, in payload: Span<UInt8>, codec: PayloadType, level: AudioLevel? = nil,
    now: Timestamp
  ) -> (primary: ReceivedAudio, restored: [ReceivedAudio])? {
    var count = 0
    var primary: REDBlock?
    var walk = blocks
    while let block = walk.next(in: payload) {
      count += 1
      primary = block
    }
    guard let primary, primary.payloadType == codec, !primary.range.isEmpty else { return nil }
    let packet = receive(header, payload: payload.extracting(primary.range), level: level, now: now)
    var restored: [ReceivedAudio] = []
    walk = blocks
    // Each block before it is of the packet before.
    for back in (1..<count).reversed() {
      guard let block = walk.next(in: payload) else { break }
      let number = Extended<SequenceNumber>(packet.number - Int64(back))
      guard block.payloadType == codec, !block.range.isEmpty, block.timestampOffset > 0, isMissing(number) else {
        continue
      }
      note(number)
      packetsRecovered += 1
      restored.append(
        ReceivedAudio(
          payload: [UInt8](copying: payload.extracting(block.range)), number: number.value,
          timestamp: RTPTimestamp(header.timestamp.value &- block.timestampOffset), marker: false, received: now,
          level: level))
    }
    return (packet, restored)
  }

  private mutating func note(_ number: Extended<SequenceNumber>) {
    let distance = number.value - newest.value
    if distance > 0 {
      present = distance < 64 ? present << UInt64(distance) | 1 : 1
      newest = number
    } else if distance > -64 {
      present |= 1 << UInt64(-distance)
    }
  }

  /// True for one of the last packets that did not come, since the first that did.
  private func isMissing(_ number: Extended<SequenceNumber>) -> Bool {
    let age = newest.value - number.value
    return (0..<64).contains(age) && present >> UInt64(age) & 1 == 0 && present >> UInt64(age) != 0
  }
}
