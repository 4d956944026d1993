import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The receiving direction of an audio transceiver: packets in the order they come, reports and statistics. Order, gaps
/// and delay are the jitter buffer's.
package struct AudioReceiver {
  /// The negotiated properties of the received audio.
  private struct Agreement {
    var payloadType: PayloadType
    /// The payload type of packets that repeat earlier ones (RFC 2198); nil: none.
    var red: PayloadType?
    /// The RTCP feedback that both sides use.
    var feedback: FeedbackMechanisms
  }

  package let id: TransceiverID
  private var agreement: Agreement?
  private var stream: AudioReceiveStream?
  private var ssrcGuard = SSRCSwitchGuard()
  /// The remote sender's last report of its clocks, and its arrival time.
  private var lastSenderReport: (clock: SenderClock, arrival: Timestamp)?

  package init(id: TransceiverID) { self.id = id }

  // MARK: - State

  /// The source that is received; nil while there is none.
  package var ssrc: SSRC? { stream?.ssrc }
  /// The RTCP feedback that both sides use; nil while nothing is to be received.
  package var feedback: FeedbackMechanisms? { agreement?.feedback }
  /// The payload types that may arrive.
  package var payloadTypes: [PayloadType] { agreement.map { [$0.payloadType, $0.red].compactMap(\.self) } ?? [] }
  package var packetsReceived: Int { stream?.statistics.received ?? 0 }
  package var senderClock: SenderClock? { lastSenderReport?.clock }
  /// Received totals since the remote sender's last restart; nil while nothing is received.
  package var statistics: StreamStatistics.Reception? {
    stream.map {
      StreamStatistics.Reception(
        ssrc: $0.ssrc, packetsReceived: $0.statistics.received, packetsLost: $0.statistics.cumulativeLost,
        jitter: $0.statistics.jitter, packetsRecovered: $0.packetsRecovered, audioLevel: $0.level?.linear)
    }
  }

  /// Applies the negotiated media; nil: the m-section is gone.
  package mutating func configure(_ media: NegotiatedMedia?) {
    agreement = media?.receiveCodecs.first.map { codec in
      Agreement(
        payloadType: codec.payloadType,
        red: media?.receiveRepairs.first { $0.capability.name == "red" }?.payloadType, feedback: codec.feedback)
    }
    if agreement == nil { stream = nil }
  }

  /// The source is another transceiver's from now on.
  package mutating func release(_ source: SSRC) {
    if stream?.ssrc == source { stream = nil }
  }

  /// Receives nothing any more.
  package mutating func end() {
    agreement = nil
    stream = nil
  }

  // MARK: - Packets

  /// The result of a packet.
  package enum Outcome: Sendable {
    /// - Parameter restored: earlier packets that were missing and had copies in it.
    case received(ReceivedAudio, restored: [ReceivedAudio])
    case dropped(DropReason)
  }

  /// Takes one packet, from which `incoming` was parsed.
  package mutating func receive(_ incoming: IncomingPacket, in packet: Span<UInt8>, now: Timestamp) -> Outcome {
    let header = incoming.header
    guard let agreement, payloadTypes.contains(header.payloadType) else { return .dropped(.unknownStream) }
    if stream?.ssrc != header.ssrc {
      guard ssrcGuard.accepts(header.ssrc, after: stream?.ssrc, now: now) else { return .dropped(.sourceCollision) }
      stream = AudioReceiveStream(
        ssrc: header.ssrc, first: header.sequenceNumber, numbersFrom: stream?.newestNumber ?? 0)
    }
    ssrcGuard.hear(now)
    let level = incoming.audioLevel?.level
    let payload = packet.extracting(header.payload)
    guard header.payloadType == agreement.red else {
      return .received(stream!.receive(header, payload: payload, level: level, now: now), restored: [])
    }
    guard let blocks = REDBlocks(parsing: payload) else { return .dropped(.malformed) }
    guard
      let (primary, restored) = stream!.receive(
        header, blocks, in: payload, codec: agreement.payloadType, level: level, now: now)
    else { return .dropped(.malformed) }
    return .received(primary, restored: restored)
  }

  // MARK: - Reports

  /// Takes a sender report of the remote peer.
  /// - Returns: nil if it is for another source.
  package mutating func receive(_ report: SenderReport, now: Timestamp) -> SenderClock? {
    guard stream?.ssrc == report.sender else { return nil }
    let clock = SenderClock(ntpTime: report.ntpTime, rtpTime: report.rtpTime)
    lastSenderReport = (clock, now)
    return clock
  }

  /// The report block since the last one; nil while nothing is received.
  package mutating func makeReportBlock(_ now: Timestamp) -> ReportBlock? {
    guard stream != nil else { return nil }
    return ReportBlock(
      source: stream!.ssrc, fractionLost: stream!.takeFractionLost(), statistics: stream!.statistics,
      lastSenderReport: lastSenderReport.map { ($0.clock.ntpTime.compact, $0.arrival) }, now: now)
  }
}
