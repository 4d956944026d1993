import RTCPrimitives
import RTCSRTP
import RTCWire

// MARK: - RTCP that comes in

extension Peer {
  private static let hearingInterval = TimeDelta.milliseconds(500)

  mutating func receiveRTCP(_ bytes: inout MutableSpan<UInt8>, now: Timestamp, into outbox: inout Outbox) {
    guard let count = unprotect(&bytes, isRTCP: true) else { return }
    noteAuthenticatedTraffic(now)
    guard var compound = RTCPCompound(parsing: bytes.span.extracting(0..<count)) else {
      drops[.malformed] += 1
      return
    }
    while let packet = compound.next() { receive(packet, now: now, into: &outbox) }
    pump(now, into: &outbox)
  }

  /// Genuine media and reports show that the far side lives, when a lossy network eats consent checks.
  mutating func noteAuthenticatedTraffic(_ now: Timestamp) {
    guard now - heard >= Self.hearingInterval else { return }
    heard = now
    ice.noteAuthenticatedTraffic(at: now)
    timers[.ice] = ice.nextDeadline ?? .distantFuture
  }

  /// Decrypts in place; nil (and counted) when the packet is not genuine.
  mutating func unprotect(_ bytes: inout MutableSpan<UInt8>, isRTCP: Bool) -> Int? {
    guard isSecured else {
      drops[.noKeys] += 1
      return nil
    }
    do throws(SRTPError) {
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
      if let report = SenderReport(parsing: packet) { receiveSenderReport(report, now: now, into: &outbox) }
      receiveReportBlocks(packet, now: now, into: &outbox)
    case .receiverReport: receiveReportBlocks(packet, now: now, into: &outbox)
    case .genericNACK: receiveNACK(packet, now: now)
    case .pictureLossIndication:
      guard let request = PictureLossIndication(parsing: packet), let index = sentVideo(request.media) else { return }
      videos[index].sender?.countKeyFrameRequest(isFIR: false)
      if !isRedundantPLI(of: index, now) { requestKeyFrameFromSource(of: index, now, into: &outbox) }
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

  /// The video we send under this source.
  private func sentVideo(_ source: SSRC) -> Int? {
    for index in videos.indices where videos[index].identity.ssrc == source && videos[index].isSending { return index }
    return nil
  }

  private func sentSound(_ source: SSRC) -> Int? {
    for index in sounds.indices where sounds[index].identity.ssrc == source && sounds[index].isSending { return index }
    return nil
  }

  /// Notes what the far sender of a sound or a video says of its clocks.
  private mutating func receiveSenderReport(_ report: SenderReport, now: Timestamp, into outbox: inout Outbox) {
    let clock = SenderClock(ntpTime: report.ntpTime, rtpTime: report.rtpTime)
    for index in videos.indices where videos[index].receiver?.ssrc == report.sender {
      videos[index].incoming.lastSenderReport = (report.ntpTime.compact, now)
      videos[index].incoming.senderClock = clock
      outbox.events.append(.senderClockChanged(clock, videos[index].id))
    }
    for index in sounds.indices where sounds[index].receiver?.ssrc == report.sender {
      sounds[index].lastSenderReport = (clock, now)
      outbox.events.append(.senderClockChanged(clock, sounds[index].id))
    }
  }

  /// libwebrtc asks for a key frame once it was sent nothing for three seconds, whether it misses anything or not. On a
  /// screen that rests, with everything sent and arrived, the picture it has is the picture: the first request of each
  /// rest is let pass. A second one is meant.
  private mutating func isRedundantPLI(of index: Int, _ now: Timestamp) -> Bool {
    let lastMediaSent = videos[index].lastMediaSent
    guard let sender = videos[index].sender, !sender.hasPending, sender.statistics.keyFramesSent > 0,
      history.hasFeedback, sender.hasTailArrived(history),
      now - lastMediaSent >= Self.restBeforeImpatience, videos[index].impatientSince != lastMediaSent
    else { return false }
    videos[index].impatientSince = lastMediaSent
    return true
  }

  private static let restBeforeImpatience = TimeDelta.milliseconds(2_500)

  private mutating func receiveReportBlocks(_ packet: RTCPPacket, now: Timestamp, into outbox: inout Outbox) {
    guard let blocks = ReportBlocks(parsing: packet) else { return }
    for number in 0..<blocks.count {
      let block = blocks[number]
      if let index = sentVideo(block.source) {
        videos[index].sender?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter)
        if !history.hasFeedback { reportLoss(block, of: index) }
      } else if let index = sentSound(block.source) {
        receiveReport(block, ofSound: index, into: &outbox)
      } else {
        continue
      }
      if let rtt = block.roundTripTime(arrival: ntpTime(now)) { roundTripTime = rtt }
    }
  }

  /// Loss from receiver reports, for far sides without transport-wide feedback.
  private mutating func reportLoss(_ block: ReportBlock, of index: Int) {
    if let last = videos[index].lastReportBlock {
      let expected = Int(block.highestSequenceNumber) - Int(last.highestSequenceNumber)
      let lost = Int(block.cumulativeLost) - Int(last.cumulativeLost)
      if (1..<65_536).contains(expected) { bitrate.report(expected: expected, lost: lost) }
    }
    videos[index].lastReportBlock = block
  }

  private mutating func receiveNACK(_ packet: RTCPPacket, now: Timestamp) {
    guard var nack = GenericNACK(parsing: packet), let index = sentVideo(nack.media) else { return }
    let interval = max((roundTripTime ?? ice.roundTripTime ?? .milliseconds(20)), .milliseconds(5))
    videos[index].sender?.countNACK()
    while let number = nack.next() { videos[index].sender?.repair(number, now: now, interval: interval) }
  }

  private mutating func receiveFIR(_ packet: RTCPPacket, now: Timestamp, into outbox: inout Outbox) {
    guard let request = FullIntraRequest(parsing: packet) else { return }
    for number in 0..<request.count {
      let entry = request[number]
      // A repeated command number is the same request again (RFC 5104 §4.3.1.1).
      guard let index = sentVideo(entry.media), entry.commandSequenceNumber != videos[index].lastFIR else { continue }
      videos[index].lastFIR = entry.commandSequenceNumber
      videos[index].sender?.countKeyFrameRequest(isFIR: true)
      requestKeyFrameFromSource(of: index, now, into: &outbox)
    }
  }
}
