import RTCMedia
import RTCPrimitives
import RTCSRTP
import RTCWire

// MARK: - Sending

extension Peer {
  /// Sends `frame` at once: sound is little, and a listener hears a gap sooner than a viewer sees one. Whatever waits for
  /// the pacer waits on.
  mutating func send(
    _ frame: EncodedAudioFrame, of id: TransceiverID, now: Timestamp, into outbox: inout Outbox
  ) {
    guard isSecured, let index = sound(id), sounds[index].isSending, let route = ice.selectedRoute else { return }
    let moment = DepartureFields(now: now, transportNumber: history.nextNumber)
    let count = outbox.datagrams.append(to: route) { datagram in
      let count = sounds[index].sender!.write(frame, into: &datagram, at: moment)
      guard count > 0 else { return 0 }
      return (try? srtp!.protectRTP(&datagram, count: count)) ?? 0
    }
    guard count > 0 else { return }
    if sounds[index].sender!.usesTransportNumbers { history.sent(isAudio: true) }
    sounds[index].sender!.countSent(bytes: count)
  }

  /// Takes what the far side says of our sound.
  mutating func receiveReport(_ block: ReportBlock, ofSound index: Int, into outbox: inout Outbox) {
    sounds[index].noteLoss(block)
    let changed = sounds[index].sender?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter)
    if let loss = changed ?? nil { outbox.events.append(.audioLossReported(loss, sounds[index].id)) }
  }

  /// Closes one second of every sound's rate.
  mutating func tickAudioBitrates(into outbox: inout Outbox) {
    for index in sounds.indices {
      if let rate = sounds[index].tick() {
        outbox.events.append(.audioTargetBitrateChanged(rate, sounds[index].id))
      }
    }
  }
}

// MARK: - Receiving

extension Peer {
  mutating func receiveAudio(
    _ packet: IncomingPacket, of index: Int, in bytes: Span<UInt8>, now: Timestamp, into outbox: inout Outbox
  ) {
    let header = packet.header
    guard let agreement = sounds[index].agreement, header.payloadType == agreement.payloadType else {
      drops[.unknownStream] += 1
      return
    }
    noteArrival(packet, feedback: agreement.feedback, now: now)
    if sounds[index].receiver?.ssrc != header.ssrc {
      guard sounds[index].sources.accepts(header.ssrc, after: sounds[index].receiver?.ssrc, now: now) else {
        drops[.sourceCollision] += 1
        return
      }
      let floor = sounds[index].receiver?.newestNumber ?? 0
      sounds[index].receiver = AudioReceiveStream(
        ssrc: header.ssrc, first: header.sequenceNumber, numbersFrom: floor)
    }
    sounds[index].sources.hear(now)
    let level = packet.audioLevel?.level
    let received = sounds[index].receiver!.receive(
      header, payload: bytes.extracting(header.payload), level: level, now: now)
    outbox.events.append(.audioReceived(received, sounds[index].id))
  }

  /// What we report of the far side's sound, and nil when there is none.
  mutating func takeReportBlock(ofSound index: Int, _ now: Timestamp) -> ReportBlock? {
    guard sounds[index].receiver != nil else { return nil }
    let fraction = sounds[index].receiver!.takeFractionLost()
    let statistics = sounds[index].receiver!.statistics
    let last = sounds[index].lastSenderReport
    return ReportBlock(
      source: sounds[index].receiver!.ssrc, fractionLost: fraction, cumulativeLost: Int32(statistics.cumulativeLost),
      highestSequenceNumber: statistics.reportedHighest, jitter: statistics.jitter,
      lastSenderReport: last?.clock.ntpTime.compact ?? CompactNTPTimestamp(0),
      delaySinceLastSenderReport: last.map { now - $0.arrival } ?? .zero)
  }
}
