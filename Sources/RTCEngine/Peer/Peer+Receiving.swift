import RTCPrimitives
import RTCWire

extension Peer {
  mutating func receiveRTP(_ bytes: inout MutableSpan<UInt8>, now: Timestamp, into outbox: inout Outbox) {
    guard let count = unprotect(&bytes, isRTCP: false) else { return }
    heardPeer(now)
    let packet = bytes.span.extracting(0..<count)
    guard let header = RTPHeader(parsing: packet) else {
      drops[.malformed] += 1
      return
    }
    if receiveAudio(header, in: packet, now: now, into: &outbox) { return }
    guard let video else {
      drops[.unknownStream] += 1
      return
    }
    noteArrival(header, in: packet, map: video.extensionMap, feedback: video.feedback, now: now)
    let payload = packet.extracting(header.payload)
    guard let (codec, isRTX) = video.meaning(of: header.payloadType) else {
      drops[.unknownStream] += 1
      return
    }
    incoming.rate.add(packet.count, timestamp: header.timestamp, now: now)
    var fields = VideoReceiveStream.Header(
      number: header.sequenceNumber, timestamp: header.timestamp, marker: header.marker, codec: codec,
      extensions: PictureExtensions(header, in: packet, map: video.extensionMap))
    if isRTX {
      // RFC 4588: the original sequence number stands before the payload.
      guard let rtx = RTXPayloadHeader(parsing: payload), receiver != nil else { return }
      fields.number = rtx.originalSequenceNumber
      let original = payload.extracting(RTXPayloadHeader.size..<payload.count)
      receiveMedia(fields, payload: original, isRepair: true, now: now, into: &outbox)
    } else {
      if receiver == nil {
        receiver = VideoReceiveStream(ssrc: header.ssrc, first: header.sequenceNumber, now: now)
      }
      guard receiver!.admits(header.ssrc, header.sequenceNumber, now: now) else {
        drops[.unknownStream] += 1
        return
      }
      receiveMedia(fields, payload: payload, isRepair: false, now: now, into: &outbox)
    }
  }

  mutating func noteArrival(
    _ header: RTPHeader, in packet: Span<UInt8>, map: RTPHeaderExtensionMap, feedback: FeedbackMechanisms,
    now: Timestamp
  ) {
    guard let wanted = map[.transportSequenceNumber], feedback.contains(.transportCC) else { return }
    var elements = header.extensionElements(in: packet)
    while let element = elements.next() {
      guard element.id == wanted,
        let number = TransportSequenceNumber(parsing: packet.extracting(element.range))
      else { continue }
      arrivals.add(number, at: now)
      timers.advance(.feedback, to: now + ArrivalLog.interval)
    }
  }

  private mutating func receiveMedia(
    _ header: VideoReceiveStream.Header, payload: Span<UInt8>, isRepair: Bool, now: Timestamp,
    into outbox: inout Outbox
  ) {
    var frames: [ReceivedFrame] = []
    let outcome = receiver?.receive(header: header, payload: payload, isRepair: isRepair, now: now, frames: &frames)
    if case .malformed = outcome { drops[.malformed] += 1 }
    handOver(frames, into: &outbox)
    setRepairTimer()
  }

  private mutating func handOver(_ frames: [ReceivedFrame], into outbox: inout Outbox) {
    for frame in frames {
      if frame.isKeyFrame { incoming.keyFrameRequests.noteKeyFrame() }
      outbox.events.append(.frameReceived(frame))
    }
  }

  private mutating func setRepairTimer() {
    var deadline = receiver?.missing.nextRequest ?? .distantFuture
    if let wanted = receiver?.keyFrameWantedAt {
      deadline = min(deadline, max(wanted, incoming.keyFrameRequests.earliest(roundTrip: roundTripEstimate)))
    }
    timers[.repair] = deadline
  }

  /// Asks again for packets and key frames that are still missing; gives the picture up when that has failed.
  mutating func requestRepairs(_ now: Timestamp, into outbox: inout Outbox) {
    guard let ssrc = receiver?.ssrc else { return }
    var frames: [ReceivedFrame] = []
    let numbers = receiver!.repairsDue(
      now, roundTrip: roundTripEstimate, isAgreed: video?.feedback.contains(.nack) ?? false, frames: &frames)
    handOver(frames, into: &outbox)
    var rest = numbers ?? []
    while !rest.isEmpty {
      var written = 0
      sendRTCP(into: &outbox) { peer, writer in
        written = GenericNACK.write(sender: peer.sendIdentity.ssrc, media: ssrc, lost: rest.span, into: &writer)
      }
      guard written > 0 else { break }
      rest.removeFirst(written)
    }
    if let wanted = receiver?.keyFrameWantedAt, wanted <= now { askForKeyFrame(now, into: &outbox) }
    setRepairTimer()
  }

  private var roundTripEstimate: TimeDelta { roundTripTime ?? ice.roundTripTime ?? .milliseconds(50) }

  /// Asks for a key frame, unless there was a request a moment ago.
  mutating func askForKeyFrame(_ now: Timestamp, into outbox: inout Outbox) {
    guard let ssrc = receiver?.ssrc,
      let request = incoming.keyFrameRequests.ask(
        now, roundTrip: roundTripEstimate, feedback: video?.feedback ?? FeedbackMechanisms())
    else { return }
    sendRTCP(into: &outbox) { peer, writer in
      switch request {
      case .pictureLoss: PictureLossIndication(sender: peer.sendIdentity.ssrc, media: ssrc).write(into: &writer)
      case .fullIntra(let number):
        FullIntraRequest.write(
          sender: peer.sendIdentity.ssrc, FullIntraRequest.Entry(media: ssrc, commandSequenceNumber: number),
          into: &writer)
      }
    }
  }

  mutating func sendFeedback(_ now: Timestamp, into outbox: inout Outbox) {
    guard let ssrc = receiver?.ssrc ?? audio.receiver?.ssrc, isSecured, let route = ice.selectedRoute else { return }
    outbox.datagrams.append(to: route) { datagram in
      var writer = ByteWriter(datagram._mutatingExtracting(0..<VideoSendStream.maximumPacketSize))
      guard arrivals.writeFeedback(sender: sendIdentity.ssrc, media: ssrc, into: &writer) else { return 0 }
      let count = writer.offset
      return (try? srtp!.protectRTCP(&datagram, count: count)) ?? 0
    }
    if !arrivals.isEmpty { timers[.feedback] = now }
  }

  /// What we report of the far side's video, and nil when there is none.
  mutating func takeReportBlock(_ now: Timestamp) -> ReportBlock? {
    guard receiver != nil else { return nil }
    let fraction = receiver!.takeFractionLost()
    let statistics = receiver!.statistics
    let last = incoming.lastSenderReport
    return ReportBlock(
      source: receiver!.ssrc, fractionLost: fraction, cumulativeLost: Int32(statistics.cumulativeLost),
      highestSequenceNumber: statistics.reportedHighest, jitter: statistics.jitter,
      lastSenderReport: last?.time ?? CompactNTPTimestamp(0),
      delaySinceLastSenderReport: last.map { now - $0.arrival } ?? .zero)
  }
}
