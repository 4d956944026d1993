import RTCMedia
import RTCPrimitives
import RTCSrtp
import RTCWire

// MARK: - Negotiation

extension Peer {
  static func audioTransceiver(
    _ configuration: PeerConfiguration, _ identity: AudioSendIdentity
  ) -> LocalTransceiver? {
    let direction: MediaDirection
    switch (configuration.sendsAudio != nil, configuration.receivesAudio) {
    case (true, true): direction = .sendrecv
    case (true, false): direction = .sendonly
    case (false, true): direction = .recvonly
    case (false, false): return nil
    }
    let parameters = configuration.sendsAudio?.opus ?? PeerConfiguration.OpusParameters()
    let opus = CodecCapability(
      name: "opus", clockRate: UInt32(AudioSendStream.clockRate), channels: 2,
      parameters: FormatParameters(parameters.text), feedback: [.transportCC], preferredPayloadType: PayloadType(111))
    let extensions: [RTPHeaderExtensionURI] = [.mid, .absSendTime, .transportSequenceNumber]
    return LocalTransceiver(
      kind: .audio, direction: direction, codecs: [opus],
      headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) },
      track: configuration.sendsAudio.map {
        LocalTrack(streamID: $0.streamID, trackID: $0.trackID, ssrc: identity.ssrc)
      })
  }

  /// Puts an accepted audio m-section to work.
  mutating func applyAudio(_ media: NegotiatedMedia) {
    let map = media.extensionMap
    if let codec = media.sendCodec, audio.sender == nil {
      audio.sender = AudioSendStream(
        identity: audio.identity,
        format: AudioSendFormat(
          mid: media.reference.mid.flatMap { RTPStreamName($0) }, payloadType: codec.payloadType, extensionMap: map))
    }
    if let codec = media.receiveCodecs.first {
      audio.agreement = AudioAgreement(payloadType: codec.payloadType, extensionMap: map, feedback: codec.feedback)
    }
  }
}

// MARK: - Sending

extension Peer {
  /// Sends `frame` at once: sound is little, and a listener hears a gap sooner than a viewer sees one. Whatever waits for
  /// the pacer waits on.
  mutating func send(_ frame: EncodedAudioFrame, now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, audio.sender != nil, let route = ice.selectedRoute else { return }
    let moment = SendMoment(now: now, transportNumber: history.nextNumber)
    let count = outbox.datagrams.append(to: route) { datagram in
      let count = audio.sender!.write(frame, into: &datagram, at: moment)
      guard count > 0 else { return 0 }
      return (try? srtp!.protectRTP(&datagram, count: count)) ?? 0
    }
    guard count > 0 else { return }
    if audio.sender!.usesTransportNumbers { history.sent(isAudio: true) }
    audio.sender!.countSent(bytes: count)
  }

  /// Ties the sound's RTP clock to the wall clock, as the video's report does with its own (RFC 3550 §6.4.1).
  mutating func reportAudio(_ blocks: [ReportBlock], now: Timestamp, into outbox: inout Outbox) {
    guard let sender = audio.sender, let rtpTime = sender.rtpTimestamp(at: now) else { return }
    let report = SenderReport(
      sender: audio.identity.ssrc, ntpTime: ntpTime(now), rtpTime: rtpTime,
      packetCount: UInt32(truncatingIfNeeded: sender.statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: sender.statistics.payloadBytesSent))
    let name = SourceDescription(source: audio.identity.ssrc, canonicalName: audio.identity.cname)
    sendRTCP(into: &outbox) { _, writer in
      report.write(into: &writer, reports: blocks.span)
      name.write(into: &writer)
    }
  }

  /// Takes what the far side says of our sound.
  mutating func receiveAudioReport(_ block: ReportBlock, into outbox: inout Outbox) {
    audio.noteLoss(block)
    let changed = audio.sender?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter)
    if let loss = changed ?? nil { outbox.events.append(.audioLossReported(loss)) }
  }
}

// MARK: - Receiving

extension Peer {
  /// Takes `packet` when it is of the sound that was agreed on.
  /// - Returns: false when it is something else.
  mutating func receiveAudio(
    _ header: RTPHeader, in packet: Span<UInt8>, now: Timestamp, into outbox: inout Outbox
  ) -> Bool {
    guard let agreement = audio.agreement, header.payloadType == agreement.payloadType else { return false }
    noteArrival(header, in: packet, map: agreement.extensionMap, feedback: agreement.feedback, now: now)
    if audio.receiver == nil { audio.receiver = AudioReceiveStream(ssrc: header.ssrc, first: header.sequenceNumber) }
    guard header.ssrc == audio.receiver?.ssrc else {
      drops[.unknownStream] += 1
      return true
    }
    _ = audio.receiver!.receive(
      header, payload: packet.extracting(header.payload), now: now, into: &outbox.events)
    timers[.audioOrder] = audio.receiver!.deadline ?? .distantFuture
    return true
  }

  mutating func releaseAudio(_ now: Timestamp, into outbox: inout Outbox) {
    audio.receiver?.release(now, into: &outbox.events)
    timers[.audioOrder] = audio.receiver?.deadline ?? .distantFuture
  }

  /// Notes what the far sender of a sound or a video says of its clocks.
  mutating func receiveSenderReport(_ report: SenderReport, now: Timestamp) {
    let clock = SenderClock(ntpTime: report.ntpTime, rtpTime: report.rtpTime)
    switch report.sender {
    case receiver?.ssrc:
      incoming.lastSenderReport = (report.ntpTime.compact, now)
      incoming.senderClock = clock
    case audio.receiver?.ssrc: audio.lastSenderReport = (clock, now)
    default: break
    }
  }

  /// What we report of the far side's sound, and nil when there is none.
  mutating func takeAudioReportBlock(_ now: Timestamp) -> ReportBlock? {
    guard audio.receiver != nil else { return nil }
    let fraction = audio.receiver!.takeFractionLost()
    let statistics = audio.receiver!.statistics
    let last = audio.lastSenderReport
    return ReportBlock(
      source: audio.receiver!.ssrc, fractionLost: fraction, cumulativeLost: Int32(statistics.cumulativeLost),
      highestSequenceNumber: statistics.reportedHighest, jitter: statistics.jitter,
      lastSenderReport: last?.clock.ntpTime.compact ?? CompactNTPTimestamp(0),
      delaySinceLastSenderReport: last.map { now - $0.arrival } ?? .zero)
  }

  /// The far sender's clocks of video and sound, as far as it has reported them.
  package var senderClocks: (video: SenderClock?, audio: SenderClock?) {
    (incoming.senderClock, audio.lastSenderReport?.clock)
  }
}
