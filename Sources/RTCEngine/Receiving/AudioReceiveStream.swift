package import RTCPrimitives
package import RTCWire

/// Receives one sound: hands its packets over in order, each once. A gap is waited for a little, since reordering heals
/// by itself; then the sound goes on without what is missing.
package struct AudioReceiveStream {
  /// What came, as far as it matters to the caller.
  package enum Outcome {
    case taken
    /// Handed over before, or the sound went on without it.
    case late
  }

  /// For so long the packets behind a gap are held.
  package static let patience = TimeDelta.milliseconds(40)
  /// No more packets are held than this.
  package static let maximumHeld = 16
  /// A packet this far from what is awaited belongs to a stream begun anew (RFC 3550, appendix A.1).
  package static let maximumDropout: Int64 = 3_000
  package static let maximumMisorder: Int64 = 100

  package let ssrc: SSRC
  /// The number that is to be handed over next.
  private var next: Extended<SequenceNumber>
  /// In order of number, all after `next`.
  private var held: [ReceivedAudio] = []
  package private(set) var statistics: ReceptionStatistics

  package init(ssrc: SSRC, first: SequenceNumber) {
    self.ssrc = ssrc
    // One wrap of room below, so that a packet older than the first seen has a number too.
    next = Extended(Int64(first.value) + 65_536)
    statistics = Self.statistics(from: next)
    held.reserveCapacity(Self.maximumHeld + 1)
  }

  private static func statistics(from first: Extended<SequenceNumber>) -> ReceptionStatistics {
    ReceptionStatistics(first: first, clockRate: AudioSendStream.clockRate)
  }

  /// When what is held is handed over although something before it is missing.
  package var deadline: Timestamp? { held.lazy.map { $0.received + Self.patience }.min() }

  package mutating func takeFractionLost() -> UInt8 { statistics.takeFractionLost() }

  /// Takes one packet and appends an event for every packet whose turn has come.
  package mutating func receive(
    _ header: RTPHeader, payload: Span<UInt8>, now: Timestamp, into events: inout [Event]
  ) -> Outcome {
    let distance = next.nearest(header.sequenceNumber).value - next.value
    if distance > Self.maximumDropout || distance < -Self.maximumMisorder { restart(at: header, into: &events) }
    let number = next.nearest(header.sequenceNumber)
    statistics.count(number, timestamp: header.timestamp, arrival: now)
    guard number >= next else { return .late }
    let packet = ReceivedAudio(
      payload: unsafe payload.withUnsafeBytes { unsafe [UInt8]($0) }, number: number.value,
      timestamp: header.timestamp, marker: header.marker, received: now)
    if number == next {
      handOver(packet, into: &events)
      handOverHeld(into: &events)
      return .taken
    }
    let place = held.firstIndex { $0.number >= packet.number } ?? held.endIndex
    guard place == held.endIndex || held[place].number != packet.number else { return .late }
    held.insert(packet, at: place)
    if held.count > Self.maximumHeld { skipGap(into: &events) }
    return .taken
  }

  /// Hands over what was held for long enough.
  package mutating func release(_ now: Timestamp, into events: inout [Event]) {
    while let deadline, deadline <= now { skipGap(into: &events) }
  }

  private mutating func skipGap(into events: inout [Event]) {
    guard let first = held.first else { return }
    next = Extended(first.number)
    handOverHeld(into: &events)
  }

  private mutating func handOverHeld(into events: inout [Event]) {
    while let first = held.first, first.number == next.value {
      held.removeFirst()
      handOver(first, into: &events)
    }
  }

  private mutating func handOver(_ packet: ReceivedAudio, into events: inout [Event]) {
    next = next.next
    events.append(.audioReceived(packet))
  }

  private mutating func restart(at header: RTPHeader, into events: inout [Event]) {
    while !held.isEmpty { skipGap(into: &events) }
    // Ahead of all numbers so far, so that those handed over keep rising.
    let base = (next.value | 0xFFFF) + 1 + Int64(header.sequenceNumber.value)
    next = Extended(base)
    statistics = Self.statistics(from: next)
  }
}
