import RTCPrimitives
import RTCWire

extension Peer {
  mutating func receiveRTP(_ bytes: inout MutableSpan<UInt8>, now: Timestamp, into outbox: inout Outbox) {
    guard let count = unprotect(&bytes, isRTCP: false) else { return }
    noteAuthenticatedTraffic(now)
    let packet = bytes.span.extracting(0..<count)
    guard let header = RTPHeader(parsing: packet) else {
      drops[.malformed] += 1
      return
    }
    if keepEarly(header, in: packet, now: now) { return }
    take(IncomingPacket(header, in: packet, map: incomingExtensions), in: packet, now: now, into: &outbox)
  }

  /// Gives a packet to its transceiver.
  mutating func take(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, now: Timestamp, into outbox: inout Outbox
  ) {
    switch place(of: incoming, now: now) {
    case .video(let index): receiveVideo(incoming, of: index, in: packet, now: now, into: &outbox)
    case .sound(let index): receiveAudio(incoming, of: index, in: packet, now: now, into: &outbox)
    case nil: break  // counted
    }
  }

  mutating func noteArrival(_ packet: IncomingPacket, feedback: FeedbackMechanisms, now: Timestamp) {
    guard let number = packet.transportNumber, feedback.contains(.transportCC) else { return }
    arrivals.add(number, at: now)
    timers.advance(.feedback, to: now + TWCCRecorder.interval)
  }

  private mutating func receiveVideo(
    _ incoming: IncomingPacket, of index: Int, in packet: Span<UInt8>, now: Timestamp, into outbox: inout Outbox
  ) {
    let header = incoming.header
    guard let agreement = videos[index].agreement else {
      drops[.unknownStream] += 1
      return
    }
    noteArrival(incoming, feedback: agreement.feedback, now: now)
    let payload = packet.extracting(header.payload)
    guard let (codec, isRTX) = agreement.meaning(of: header.payloadType) else {
      drops[.unknownStream] += 1
      return
    }
    if agreement.needsRateEstimate {
      videos[index].incoming.rate.add(packet.count, timestamp: header.timestamp, now: now)
    }
    var fields = VideoReceiveStream.Header(
      number: header.sequenceNumber, timestamp: header.timestamp, marker: header.marker, codec: codec,
      extensions: incoming.video)
    if isRTX {
      // RFC 4588: the original sequence number stands before the payload.
      guard let rtx = RTXPayloadHeader(parsing: payload), let receiver = videos[index].receiver,
        videos[index].incoming.repairs.allSatisfy({ $0.repair != header.ssrc || $0.media == receiver.ssrc })
      else { return }
      fields.number = rtx.originalSequenceNumber
      let original = payload.extracting(RTXPayloadHeader.size..<payload.count)
      receiveMedia(fields, of: index, payload: original, isRepair: true, now: now, into: &outbox)
    } else {
      guard followSource(header, of: index, now: now) else { return }
      receiveMedia(fields, of: index, payload: payload, isRepair: false, now: now, into: &outbox)
    }
  }

  /// Begins anew where the far sender has: another source under the same m-section.
  /// - Returns: false for a packet that is not of the stream.
  private mutating func followSource(_ header: RTPHeader, of index: Int, now: Timestamp) -> Bool {
    if videos[index].receiver?.ssrc != header.ssrc {
      guard videos[index].incoming.sources.accepts(header.ssrc, after: videos[index].receiver?.ssrc, now: now) else {
        drops[.sourceCollision] += 1
        return false
      }
      videos[index].receiver = VideoReceiveStream(ssrc: header.ssrc, first: header.sequenceNumber, now: now)
      videos[index].incoming.lastSenderReport = nil
    }
    videos[index].incoming.sources.hear(now)
    return true
  }

  private mutating func receiveMedia(
    _ header: VideoReceiveStream.Header, of index: Int, payload: Span<UInt8>, isRepair: Bool, now: Timestamp,
    into outbox: inout Outbox
  ) {
    var frames: [ReceivedFrame] = []
    swap(&frames, &videos[index].incoming.frames)
    let outcome = videos[index].receiver?.receive(
      header: header, payload: payload, isRepair: isRepair, now: now, frames: &frames)
    if case .malformed = outcome { drops[.malformed] += 1 }
    handOver(frames, of: index, into: &outbox)
    frames.removeAll(keepingCapacity: true)
    swap(&frames, &videos[index].incoming.frames)
    setRepairTimer(of: index)
  }

  private mutating func handOver(_ frames: [ReceivedFrame], of index: Int, into outbox: inout Outbox) {
    for frame in frames {
      if frame.isKeyFrame { videos[index].incoming.keyFrameRequests.noteKeyFrame() }
      outbox.events.append(.frameReceived(frame, videos[index].id))
    }
  }

  // MARK: - Repair

  private mutating func setRepairTimer(of index: Int) {
    var deadline = videos[index].receiver?.missing.nextRequest ?? .distantFuture
    if let wanted = videos[index].receiver?.keyFrameWantedAt {
      let earliest = videos[index].incoming.keyFrameRequests.earliest(roundTrip: roundTripEstimate)
      deadline = min(deadline, max(wanted, earliest))
    }
    videos[index].incoming.repairDeadline = deadline
    setRepairTimer()
  }

  /// The earliest of all videos.
  mutating func setRepairTimer() {
    var deadline = Timestamp.distantFuture
    for index in videos.indices { deadline = min(deadline, videos[index].incoming.repairDeadline) }
    timers[.repair] = deadline
  }

  mutating func requestRepairs(_ now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices where videos[index].incoming.repairDeadline <= now {
      requestRepairs(of: index, now, into: &outbox)
    }
    setRepairTimer()
  }

  /// Asks again for packets and key frames that are still missing; gives the picture up when that has failed.
  private mutating func requestRepairs(of index: Int, _ now: Timestamp, into outbox: inout Outbox) {
    videos[index].incoming.repairDeadline = .distantFuture
    guard let ssrc = videos[index].receiver?.ssrc else { return }
    var frames: [ReceivedFrame] = []
    let numbers = videos[index].receiver!.repairsDue(
      now, roundTrip: roundTripEstimate, isAgreed: videos[index].agreement?.feedback.contains(.nack) ?? false,
      frames: &frames)
    handOver(frames, of: index, into: &outbox)
    var rest = numbers ?? []
    while !rest.isEmpty {
      var written = 0
      sendRTCP(into: &outbox) { peer, writer in
        written = GenericNACK.write(sender: peer.primary.ssrc, media: ssrc, lost: rest.span, into: &writer)
      }
      guard written > 0 else { break }
      rest.removeFirst(written)
    }
    if let wanted = videos[index].receiver?.keyFrameWantedAt, wanted <= now {
      askForKeyFrame(of: index, now, into: &outbox)
    }
    setRepairTimer(of: index)
  }

  private var roundTripEstimate: TimeDelta { roundTripTime ?? ice.roundTripTime ?? .milliseconds(50) }

  /// - Parameter id: whose; nil: of every video that is received.
  mutating func askForKeyFrames(_ id: TransceiverID?, now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices where id == nil || videos[index].id == id {
      askForKeyFrame(of: index, now, into: &outbox)
    }
  }

  /// Asks for a key frame, unless there was a request a moment ago.
  private mutating func askForKeyFrame(of index: Int, _ now: Timestamp, into outbox: inout Outbox) {
    guard let ssrc = videos[index].receiver?.ssrc,
      let request = videos[index].incoming.keyFrameRequests.ask(
        now, roundTrip: roundTripEstimate, feedback: videos[index].agreement?.feedback ?? FeedbackMechanisms())
    else { return }
    sendRTCP(into: &outbox) { peer, writer in
      switch request {
      case .pictureLoss: PictureLossIndication(sender: peer.primary.ssrc, media: ssrc).write(into: &writer)
      case .fullIntra(let number):
        FullIntraRequest.write(
          sender: peer.primary.ssrc, FullIntraRequest.Entry(media: ssrc, commandSequenceNumber: number), into: &writer)
      }
    }
  }

  /// Tells senders without transport-wide feedback what the path seems to bear, each its own.
  mutating func reportRates(_ blocks: [ReportBlock], now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices where videos[index].agreement?.needsRateEstimate ?? false {
      guard let ssrc = videos[index].receiver?.ssrc, let block = blocks.first(where: { $0.source == ssrc }),
        let rate = videos[index].incoming.rate.update(now, fractionLost: Double(block.fractionLost) / 256)
      else { continue }
      let sources = [ssrc]
      sendRTCP(into: &outbox) { peer, writer in
        ReceiverEstimatedMaximumBitRate.write(
          sender: peer.primary.ssrc, bitRate: rate, sources: sources.span, into: &writer)
      }
    }
  }

  // MARK: - Feedback

  mutating func sendFeedback(_ now: Timestamp, into outbox: inout Outbox) {
    guard let ssrc = receivedSource, isSecured, let route = ice.selectedRoute else { return }
    outbox.datagrams.append(to: route) { datagram in
      var writer = ByteWriter(datagram._mutatingExtracting(0..<VideoSendStream.maximumPacketSize))
      guard arrivals.writeFeedback(sender: primary.ssrc, media: ssrc, into: &writer) else { return 0 }
      let count = writer.offset
      return (try? srtp!.protectRTCP(&datagram, count: count)) ?? 0
    }
    if !arrivals.isEmpty { timers[.feedback] = now }
  }

  /// One that feedback on the transport as a whole can name.
  private var receivedSource: SSRC? {
    for index in videos.indices { if let ssrc = videos[index].receiver?.ssrc { return ssrc } }
    for index in sounds.indices { if let ssrc = sounds[index].receiver?.ssrc { return ssrc } }
    return nil
  }

  /// What we report of the far side's video, and nil when there is none.
  mutating func takeReportBlock(ofVideo index: Int, _ now: Timestamp) -> ReportBlock? {
    guard videos[index].receiver != nil else { return nil }
    let fraction = videos[index].receiver!.takeFractionLost()
    let statistics = videos[index].receiver!.statistics
    let last = videos[index].incoming.lastSenderReport
    return ReportBlock(
      source: videos[index].receiver!.ssrc, fractionLost: fraction, cumulativeLost: Int32(statistics.cumulativeLost),
      highestSequenceNumber: statistics.reportedHighest, jitter: statistics.jitter,
      lastSenderReport: last?.time ?? CompactNTPTimestamp(0),
      delaySinceLastSenderReport: last.map { now - $0.arrival } ?? .zero)
  }
}
