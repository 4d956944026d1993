import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The receiving direction of a video transceiver: frames from packets, requests for missing packets, reports and
/// statistics.
package struct VideoReceiver {
  package let id: TransceiverID
  /// How it is numbered, once that is agreed.
  private var agreement: VideoAgreement?
  private var stream: VideoReceiveStream?
  /// The FEC decoder, made with the first repair packet, or the first packet with repair packets in its stream.
  private var decoder: FECDecoder?
  private var ssrcGuard = SSRCSwitchGuard()
  /// The compact NTP time of the remote sender's last report, and when it came (RFC 3550 §6.4.1, LSR and DLSR).
  private var lastSenderReport: (time: CompactNTPTimestamp, arrival: Timestamp)?
  /// The remote sender's last report of its clocks.
  package private(set) var senderClock: SenderClock?
  private var keyFrameRequests = KeyFrameRequests()
  /// The bandwidth estimate for a remote sender without transport-wide feedback.
  private var rate = ReceiveRateEstimate()
  /// The repair sources in the remote peer's description, with the media sources that they protect.
  private var repairs: [(repair: SSRC, media: SSRC)] = []
  /// The time at which missing packets or a key frame are to be requested.
  package private(set) var nextDeadline = Timestamp.distantFuture

  private let memory: ByteBudget?

  /// - Parameter memory: what all videos of the remote peer have for packets that wait.
  package init(id: TransceiverID, memory: ByteBudget? = nil) {
    self.id = id
    self.memory = memory
  }

  // MARK: - State

  /// The source that is received; nil while there is none.
  package var ssrc: SSRC? { stream?.ssrc }
  /// The RTCP feedback that both sides use; nil while nothing is to be received.
  package private(set) var feedback: FeedbackMechanisms?
  /// The payload types that may arrive, including retransmissions.
  package var payloadTypes: [PayloadType] { agreement?.payloadTypes ?? [] }
  package var framesReceived: Int { stream?.framesReceived ?? 0 }
  package var packetsReceived: Int { stream?.statistics.received ?? 0 }
  /// Received totals since the remote sender's last restart; nil while nothing is received.
  package var statistics: StreamStatistics.Reception? {
    stream.map {
      StreamStatistics.Reception(
        ssrc: $0.ssrc, packetsReceived: $0.statistics.received, packetsLost: $0.statistics.cumulativeLost,
        jitter: $0.statistics.jitter, framesReceived: $0.framesReceived,
        fecPacketsReceived: decoder?.repairPacketsReceived ?? 0, packetsRecovered: decoder?.packetsRecovered ?? 0)
    }
  }

  /// Applies the negotiated media; nil: the m-section is gone.
  package mutating func configure(_ media: NegotiatedMedia?) {
    agreement = media.flatMap { VideoAgreement($0) }
    repairs =
      media?.remoteSourceGroups.filter { $0.semantics == "FID" && $0.sources.count == 2 }
      .map { (repair: $0.sources[1], media: $0.sources[0]) } ?? []
    feedback = agreement?.feedback
    if agreement == nil { endStream() }
  }

  /// The source is another transceiver's from now on.
  package mutating func release(_ source: SSRC) {
    if stream?.ssrc == source { endStream() }
  }

  /// Receives nothing any more.
  package mutating func end() {
    agreement = nil
    feedback = nil
    endStream()
  }

  private mutating func endStream() {
    stream = nil
    decoder = nil
    nextDeadline = .distantFuture
  }

  // MARK: - Packets

  /// Takes one packet, and appends the pictures that are whole now to `frames`.
  /// - Parameters:
  ///   - packet: the packet that `incoming` was parsed from.
  /// - Returns: why the packet is of no use; nil when it is, or is no fault of anybody's.
  package mutating func receive(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, now: Timestamp, roundTrip: TimeDelta,
    frames: inout [ReceivedFrame]
  ) -> DropReason? {
    let header = incoming.header
    guard let agreement, let meaning = agreement.meaning(of: header.payloadType) else { return .unknownStream }
    if agreement.needsRateEstimate { rate.add(packet.count, timestamp: header.timestamp, now: now) }
    let payload = packet.extracting(header.payload)
    switch meaning {
    case .media(let codec):
      guard accepts(header, now: now) else { return .sourceCollision }
      decoder?.addMedia(header, in: packet, map: agreement.extensionMap, isRED: false)
      let drop = receive(
        VideoReceiveStream.Header(incoming, codec), payload: payload, isRepair: false, now: now, roundTrip: roundTrip,
        frames: &frames)
      takeRestored(agreement, now: now, roundTrip: roundTrip, frames: &frames)
      return drop
    case .rtx(let codec):
      // RFC 4588: the original sequence number stands before the payload.
      guard let rtx = RTXPayloadHeader(parsing: payload), repairsStream(header.ssrc) else { return nil }
      var fields = VideoReceiveStream.Header(incoming, codec)
      fields.number = rtx.originalSequenceNumber
      return receive(
        fields, payload: payload.extracting(RTXPayloadHeader.size..<payload.count), isRepair: true, now: now,
        roundTrip: roundTrip, frames: &frames)
    case .red:
      guard accepts(header, now: now) else { return .sourceCollision }
      return receiveRED(incoming, in: packet, agreement, now: now, roundTrip: roundTrip, frames: &frames)
    case .redRTX:
      guard let rtx = RTXPayloadHeader(parsing: payload), repairsStream(header.ssrc) else { return nil }
      return receive(
        redBlock: payload.extracting(RTXPayloadHeader.size..<payload.count), number: rtx.originalSequenceNumber,
        of: incoming,
        agreement, isRepair: true, now: now, roundTrip: roundTrip, frames: &frames)
    case .flexFEC:
      guard let ssrc else { return nil }
      if decoder == nil { decoder = FECDecoder(ssrc: ssrc) }
      guard decoder!.addFlexFEC(payload) else { return .malformed }
      takeRestored(agreement, now: now, roundTrip: roundTrip, frames: &frames)
      return nil
    }
  }

  /// True when retransmissions from `source` are of the stream.
  private func repairsStream(_ source: SSRC) -> Bool {
    guard let ssrc else { return false }
    return repairs.allSatisfy { $0.repair != source || $0.media == ssrc }
  }

  private mutating func receive(
    _ fields: VideoReceiveStream.Header, payload: Span<UInt8>, isRepair: Bool, now: Timestamp, roundTrip: TimeDelta,
    frames: inout [ReceivedFrame]
  ) -> DropReason? {
    let first = frames.count
    let outcome = stream!.receive(header: fields, payload: payload, isRepair: isRepair, now: now, frames: &frames)
    countKeyFrames(frames[first...])
    updateDeadline(roundTrip)
    if case .malformed = outcome { return .malformed }
    return nil
  }

  // MARK: - Forward error correction

  /// Takes a packet whose payload is a block of media or of repair data.
  private mutating func receiveRED(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, _ agreement: VideoAgreement, now: Timestamp,
    roundTrip: TimeDelta, frames: inout [ReceivedFrame]
  ) -> DropReason? {
    let header = incoming.header
    let payload = packet.extracting(header.payload)
    stream?.sharesNumbersWithRepair = agreement.ulpfec != nil
    if decoder == nil { decoder = FECDecoder(ssrc: header.ssrc) }
    if !payload.isEmpty, payload[0] == agreement.ulpfec?.value {
      guard decoder!.addULPFEC(payload.extracting(1..<payload.count)) else { return .malformed }
    } else if !payload.isEmpty {
      decoder!.addMedia(header, in: packet, map: agreement.extensionMap, isRED: true)
    }
    let drop = receive(
      redBlock: payload, number: header.sequenceNumber, of: incoming, agreement, isRepair: false, now: now,
      roundTrip: roundTrip, frames: &frames)
    takeRestored(agreement, now: now, roundTrip: roundTrip, frames: &frames)
    return drop
  }

  /// Takes the one block of a packet of RED. To the stream of media repair data is padding.
  private mutating func receive(
    redBlock payload: Span<UInt8>, number: SequenceNumber, of incoming: IncomingPacket, _ agreement: VideoAgreement,
    isRepair: Bool, now: Timestamp, roundTrip: TimeDelta, frames: inout [ReceivedFrame]
  ) -> DropReason? {
    let isEmpty = payload.isEmpty || payload[0] == agreement.ulpfec?.value
    // Several blocks are of no use in video. Padding has no codec.
    guard isEmpty || payload[0] & 0x80 == 0,
      let codec = isEmpty ? .vp8 : agreement.codec(of: PayloadType(payload[0] & 0x7F))
    else { return .malformed }
    var fields = VideoReceiveStream.Header(incoming, codec)
    fields.number = number
    if isEmpty { fields.marker = false }
    return receive(
      fields, payload: payload.extracting(isEmpty ? 0..<0 : 1..<payload.count), isRepair: isRepair, now: now,
      roundTrip: roundTrip, frames: &frames)
  }

  /// Takes the packets that repair packets have restored.
  private mutating func takeRestored(
    _ agreement: VideoAgreement, now: Timestamp, roundTrip: TimeDelta, frames: inout [ReceivedFrame]
  ) {
    while let number = decoder?.takeRestored() {
      let held = decoder!  // the reference: `self` is taken while its memory is read
      let packet = held.packet(number)
      guard let header = RTPHeader(parsing: packet), let codec = agreement.codec(of: header.payloadType) else {
        continue
      }
      let incoming = IncomingPacket(header, in: packet, map: agreement.extensionMap)
      _ = receive(
        VideoReceiveStream.Header(incoming, codec), payload: packet.extracting(header.payload), isRepair: true,
        now: now,
        roundTrip: roundTrip, frames: &frames)
    }
  }

  /// Starts again if the remote sender has: another source in the same m-section.
  /// - Returns: false for a packet of another stream.
  private mutating func accepts(_ header: RTPHeader, now: Timestamp) -> Bool {
    if stream?.ssrc != header.ssrc {
      guard ssrcGuard.accepts(header.ssrc, after: stream?.ssrc, now: now) else { return false }
      stream = VideoReceiveStream(ssrc: header.ssrc, first: header.sequenceNumber, now: now, memory: memory)
      decoder = nil
      lastSenderReport = nil
    }
    ssrcGuard.hear(now)
    return true
  }

  private mutating func countKeyFrames(_ frames: ArraySlice<ReceivedFrame>) {
    for frame in frames where frame.isKeyFrame { keyFrameRequests.keyFrameReceived() }
  }

  // MARK: - Repair

  /// The requests to the remote sender.
  package struct Requests: Hashable {
    /// By NACK.
    package var packets: [SequenceNumber] = []
    package var keyFrame: KeyFrameRequests.Request?
  }

  private mutating func updateDeadline(_ roundTrip: TimeDelta) {
    var deadline = stream?.missing.nextRequest ?? .distantFuture
    if let wanted = stream?.keyFrameWantedAt {
      deadline = min(deadline, max(wanted, keyFrameRequests.earliest(roundTrip: roundTrip)))
    }
    nextDeadline = deadline
  }

  /// Repeats requests for packets and key frames that are still missing; gives the picture up when that has failed.
  /// Frames that can be shown without the packets given up are appended to `frames`.
  package mutating func deadlineReached(
    _ now: Timestamp, roundTrip: TimeDelta, frames: inout [ReceivedFrame]
  ) -> Requests {
    guard nextDeadline <= now else { return Requests() }
    nextDeadline = .distantFuture
    guard stream != nil else { return Requests() }
    let first = frames.count
    var requests = Requests()
    requests.packets =
      stream!.repairsDue(
        now, roundTrip: roundTrip, isAgreed: feedback?.contains(.nack) ?? false, frames: &frames) ?? []
    countKeyFrames(frames[first...])
    if let wanted = stream!.keyFrameWantedAt, wanted <= now {
      requests.keyFrame = requestKeyFrame(now, roundTrip: roundTrip)
    }
    updateDeadline(roundTrip)
    return requests
  }

  /// The key-frame request to send now; nil if one was sent a moment ago, or nothing is received.
  package mutating func requestKeyFrame(_ now: Timestamp, roundTrip: TimeDelta) -> KeyFrameRequests.Request? {
    guard stream != nil else { return nil }
    return keyFrameRequests.ask(now, roundTrip: roundTrip, feedback: feedback ?? FeedbackMechanisms())
  }

  // MARK: - Reports

  /// Takes a sender report of the remote peer.
  /// - Returns: nil if it is for another source.
  package mutating func receive(_ report: SenderReport, now: Timestamp) -> SenderClock? {
    guard stream?.ssrc == report.sender else { return nil }
    lastSenderReport = (report.ntpTime.compact, now)
    senderClock = SenderClock(ntpTime: report.ntpTime, rtpTime: report.rtpTime)
    return senderClock
  }

  /// The report block since the last one; nil while nothing is received.
  package mutating func makeReportBlock(_ now: Timestamp) -> ReportBlock? {
    guard stream != nil else { return nil }
    return ReportBlock(
      source: stream!.ssrc, fractionLost: stream!.takeFractionLost(), statistics: stream!.statistics,
      lastSenderReport: lastSenderReport, now: now)
  }

  /// The bandwidth estimate for remote senders without transport-wide feedback (REMB); nil for others.
  /// - Parameter block: our present report.
  package mutating func makeRateEstimate(_ block: ReportBlock, now: Timestamp) -> BitRate? {
    guard agreement?.needsRateEstimate ?? false, block.source == stream?.ssrc else { return nil }
    return rate.update(now, fractionLost: Double(block.fractionLost) / 256)
  }
}

extension VideoReceiveStream.Header {
  fileprivate init(_ packet: IncomingPacket, _ codec: VideoCodec) {
    self.init(
      number: packet.header.sequenceNumber, timestamp: packet.header.timestamp, marker: packet.header.marker,
      codec: codec, extensions: packet.video)
  }
}

extension ReportBlock {
  /// - Parameter lastSenderReport: the remote sender's last report, and when it came; nil before the first.
  init(
    source: SSRC, fractionLost: UInt8, statistics: ReceptionStatistics,
    lastSenderReport: (time: CompactNTPTimestamp, arrival: Timestamp)?, now: Timestamp
  ) {
    self.init(
      source: source, fractionLost: fractionLost, cumulativeLost: Int32(statistics.cumulativeLost),
      highestSequenceNumber: statistics.reportedHighest, jitter: statistics.jitter,
      lastSenderReport: lastSenderReport?.time ?? CompactNTPTimestamp(0),
      delaySinceLastSenderReport: lastSenderReport.map { now - $0.arrival } ?? .zero)
  }
}
