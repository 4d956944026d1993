import RTCPrimitives
import RTCSrtp
import RTCWire

extension Peer {
  static let reportInterval = TimeDelta.seconds(1)
  private static let hearingInterval = TimeDelta.milliseconds(500)

  // MARK: - In

  mutating func receiveRTCP(_ bytes: inout MutableSpan<UInt8>, now: Timestamp, into outbox: inout Outbox) {
    guard let count = unprotect(&bytes, isRTCP: true) else { return }
    heardPeer(now)
    guard var compound = RTCPCompound(parsing: bytes.span.extracting(0..<count)) else {
      drops[.malformed] += 1
      return
    }
    while let packet = compound.next() { receive(packet, now: now, into: &outbox) }
    pump(now, into: &outbox)
  }

  /// Genuine media and reports show that the far side lives, when a lossy network eats consent checks.
  mutating func heardPeer(_ now: Timestamp) {
    guard now - incoming.heard >= Self.hearingInterval else { return }
    incoming.heard = now
    ice.heardPeer(at: now)
    timers[.ice] = ice.nextDeadline ?? .distantFuture
  }

  /// Decrypts in place; nil (and counted) when the packet is not genuine.
  mutating func unprotect(_ bytes: inout MutableSpan<UInt8>, isRTCP: Bool) -> Int? {
    guard isSecured else {
      drops[.noKeys] += 1
      return nil
    }
    do throws(SrtpError) {
      return isRTCP ? try srtp!.unprotectRTCP(&bytes) : try srtp!.unprotectRTP(&bytes)
    } catch {
      switch error {
      case .replayed, .tooOld: drops[.replay] += 1
      case .malformed: drops[.malformed] += 1
      default: drops[.authentication] += 1
      }
      return nil
    }
  }

  private mutating func receive(_ packet: RTCPPacket, now: Timestamp, into outbox: inout Outbox) {
    switch packet.kind {
    case .senderReport:
      if let report = SenderReport(parsing: packet) { receiveSenderReport(report, now: now) }
      receiveReportBlocks(packet, now: now, into: &outbox)
    case .receiverReport: receiveReportBlocks(packet, now: now, into: &outbox)
    case .genericNACK: receiveNACK(packet, now: now)
    case .pictureLossIndication:
      guard let request = PictureLossIndication(parsing: packet), request.media == sendIdentity.ssrc else { return }
      sender?.countKeyFrameRequest(isFIR: false)
      if !isMereImpatience(now) { requestKeyFrameFromSource(now, into: &outbox) }
    case .fullIntraRequest: receiveFIR(packet, now: now, into: &outbox)
    case .transportFeedback:
      guard let feedback = TransportFeedback(parsing: packet) else { return }
      let (expected, lost) = history.receive(feedback)
      bitrate.report(expected: expected, lost: lost)
    case .applicationLayerFeedback:
      guard let estimate = ReceiverEstimatedMaximumBitRate(parsing: packet) else { return }
      bitrate.setRemoteMaximum(estimate.bitRate)
      announceBitrate(into: &outbox)
    case .goodbye, .sourceDescription, .extendedReport, .other: break
    }
  }

  /// libwebrtc asks for a key frame once it was sent nothing for three seconds, whether it misses anything or not. On a
  /// screen that rests, with everything sent and arrived, the picture it has is the picture: the first request of each
  /// rest is let pass. A second one is meant.
  private mutating func isMereImpatience(_ now: Timestamp) -> Bool {
    guard let sender, !sender.hasPending, sender.statistics.keyFramesSent > 0, history.hasFeedback,
      sender.hasTailArrived(history),
      now - lastMediaSent >= Self.restBeforeImpatience, impatientSince != lastMediaSent
    else { return false }
    impatientSince = lastMediaSent
    return true
  }

  private static let restBeforeImpatience = TimeDelta.milliseconds(2_500)

  private mutating func receiveReportBlocks(_ packet: RTCPPacket, now: Timestamp, into outbox: inout Outbox) {
    guard let blocks = ReportBlocks(parsing: packet) else { return }
    for index in 0..<blocks.count {
      let block = blocks[index]
      guard block.source == sendIdentity.ssrc || block.source == audio.identity.ssrc else { continue }
      if let rtt = block.roundTripTime(arrival: ntpTime(now)) { roundTripTime = rtt }
      guard block.source == sendIdentity.ssrc else {
        receiveAudioReport(block, into: &outbox)
        continue
      }
      sender?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter)
      if !history.hasFeedback { reportLoss(block) }
    }
  }

  /// Loss from receiver reports, for far sides without transport-wide feedback.
  private mutating func reportLoss(_ block: ReportBlock) {
    if let last = incoming.lastReportBlock {
      let expected = Int(block.highestSequenceNumber) - Int(last.highestSequenceNumber)
      let lost = Int(block.cumulativeLost) - Int(last.cumulativeLost)
      if (1..<65_536).contains(expected) { bitrate.report(expected: expected, lost: lost) }
    }
    incoming.lastReportBlock = block
  }

  private mutating func receiveNACK(_ packet: RTCPPacket, now: Timestamp) {
    guard var nack = GenericNACK(parsing: packet), nack.media == sendIdentity.ssrc else { return }
    let interval = max((roundTripTime ?? ice.roundTripTime ?? .milliseconds(20)), .milliseconds(5))
    sender?.countNACK()
    while let number = nack.next() { sender?.repair(number, now: now, interval: interval) }
  }

  private mutating func receiveFIR(_ packet: RTCPPacket, now: Timestamp, into outbox: inout Outbox) {
    guard let request = FullIntraRequest(parsing: packet) else { return }
    for index in 0..<request.count where request[index].media == sendIdentity.ssrc {
      // A repeated command number is the same request again (RFC 5104 §4.3.1.1).
      guard request[index].commandSequenceNumber != incoming.lastFIR else { continue }
      incoming.lastFIR = request[index].commandSequenceNumber
      sender?.countKeyFrameRequest(isFIR: true)
      requestKeyFrameFromSource(now, into: &outbox)
    }
  }

  // MARK: - Out

  /// The wall-clock time of `now` as NTP.
  func ntpTime(_ now: Timestamp) -> NTPTimestamp {
    NTPTimestamp(sinceUnixEpoch: (now - .zero) + configuration.wallClockOffset)
  }

  /// Sends a sender report for each stream (or a receiver report, when we send nothing) with our name.
  mutating func report(_ now: Timestamp, into outbox: inout Outbox) {
    timers[.report] = now + Self.reportInterval
    let ofVideo = takeReportBlock(now)
    if let ofVideo { reportRate(ofVideo, now: now, into: &outbox) }
    let blocks = [ofVideo, takeAudioReportBlock(now)].compactMap { $0 }
    let sendsVideo = (sender?.statistics.packetsSent ?? 0) > 0
    if audio.hasSent { reportAudio(sendsVideo ? [] : blocks, now: now, into: &outbox) }
    guard sendsVideo || !audio.hasSent else { return }
    let name = SourceDescription(source: sendIdentity.ssrc, canonicalName: sendIdentity.cname)
    let time = ntpTime(now)
    sendRTCP(into: &outbox) { peer, writer in
      if sendsVideo, let sender = peer.sender {
        SenderReport(
          sender: peer.sendIdentity.ssrc, ntpTime: time, rtpTime: sender.rtpTimestamp(now),
          packetCount: UInt32(truncatingIfNeeded: sender.statistics.packetsSent),
          octetCount: UInt32(truncatingIfNeeded: sender.statistics.payloadBytesSent)
        ).write(into: &writer, reports: blocks.span)
      } else {
        ReceiverReport(sender: peer.sendIdentity.ssrc).write(into: &writer, reports: blocks.span)
      }
      name.write(into: &writer)
    }
  }

  /// Tells a sender without transport-wide feedback what the path seems to bear.
  private mutating func reportRate(_ block: ReportBlock, now: Timestamp, into outbox: inout Outbox) {
    guard let feedback = video?.feedback, feedback.contains(.remb), !feedback.contains(.transportCC),
      let rate = incoming.rate.update(now, fractionLost: Double(block.fractionLost) / 256)
    else { return }
    sendRTCP(into: &outbox) { peer, writer in
      ReceiverEstimatedMaximumBitRate.write(
        sender: peer.sendIdentity.ssrc, bitRate: rate, sources: [block.source].span, into: &writer)
    }
  }

  /// Writes one RTCP compound with `body` and sends it protected.
  mutating func sendRTCP(into outbox: inout Outbox, _ body: (borrowing Peer, inout ByteWriter) -> Void) {
    guard isSecured, let route = ice.selectedRoute else { return }
    outbox.datagrams.append(to: route) { datagram in
      var writer = ByteWriter(datagram._mutatingExtracting(0..<VideoSendStream.maximumPacketSize))
      body(self, &writer)
      let count = writer.offset
      guard count > 0 else { return 0 }
      return (try? srtp!.protectRTCP(&datagram, count: count)) ?? 0
    }
  }

  /// Says goodbye on RTCP (RFC 3550 §6.6).
  mutating func sendGoodbye(into outbox: inout Outbox) {
    sendRTCP(into: &outbox) { peer, writer in
      ReceiverReport(sender: peer.sendIdentity.ssrc).write(into: &writer)
      let sources = [peer.sendIdentity.ssrc] + (peer.audio.hasSent ? [peer.audio.identity.ssrc] : [])
      Goodbye.write(sources.span, into: &writer)
    }
  }
}
