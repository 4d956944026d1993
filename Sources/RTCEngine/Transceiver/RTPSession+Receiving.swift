import RTCMedia
package import RTCPrimitives
import RTCWire

// MARK: - Receiving

extension RTPSession {
  /// Anything at all is received.
  package var expectsMedia: Bool { demultiplexer.expectsMedia }

  /// A packet of media came where none is received.
  package mutating func countUnexpected() { drops[.unknownStream] += 1 }

  package mutating func receiveRTP(
    _ packet: Span<UInt8>, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    guard let header = RTPHeader(parsing: packet) else {
      drops[.malformed] += 1
      return
    }
    if let early = demultiplexer.keepEarly(header, in: packet, now: now) {
      if let number = early.transportNumber { arrivals.add(number, at: now) }
      if !early.isKept { drops[.unknownStream] += 1 }
      return
    }
    deliver(
      IncomingPacket(header, in: packet, map: demultiplexer.extensionMap), in: packet, now: now, over: &transport,
      into: &outbox)
  }

  /// Handles a packet that arrived before the answer with its format.
  mutating func receiveEarly(_ packet: EarlyMedia.Packet, over transport: inout Transport, into outbox: inout Outbox) {
    let bytes = packet.bytes.span
    guard let header = RTPHeader(parsing: bytes) else { return }
    var incoming = IncomingPacket(header, in: bytes, map: demultiplexer.extensionMap)
    incoming.transportNumber = nil  // it was accounted for when it came
    deliver(incoming, in: bytes, now: packet.arrival, over: &transport, into: &outbox)
  }

  /// Gives a packet to its transceiver.
  private mutating func deliver(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, now: Timestamp, over transport: inout Transport,
    into outbox: inout Outbox
  ) {
    switch demultiplexer.destination(of: incoming, now: now) {
    case .nobody(let reason): drops[reason] += 1
    case .transceiver(let id, let former):
      if let former { transceivers.release(incoming.header.ssrc, from: former) }
      switch transceivers.place(of: id) {
      case .video(let index): deliver(incoming, in: packet, toVideo: index, now: now, over: &transport, into: &outbox)
      case .audio(let index): deliver(incoming, in: packet, toAudio: index, now: now, over: &transport, into: &outbox)
      case nil: drops[.unknownStream] += 1
      }
    }
  }

  private mutating func deliver(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, toVideo index: Int, now: Timestamp,
    over transport: inout Transport, into outbox: inout Outbox
  ) {
    recordArrival(incoming, transceivers.video[index].receiver.feedback, now: now)
    let roundTrip = receivingRoundTrip(transport)
    let drop = transceivers.video[index].receiver.receive(
      incoming, in: packet, now: now, roundTrip: roundTrip, frames: &frames)
    if let drop { drops[drop] += 1 }
    announce(frames, of: index, into: &outbox)
    frames.removeAll(keepingCapacity: true)
  }

  private mutating func deliver(
    _ incoming: IncomingPacket, in packet: Span<UInt8>, toAudio index: Int, now: Timestamp,
    over transport: inout Transport, into outbox: inout Outbox
  ) {
    recordArrival(incoming, transceivers.audio[index].receiver.feedback, now: now)
    switch transceivers.audio[index].receiver.receive(incoming, in: packet, now: now) {
    case .received(let audio, let restored):
      for earlier in restored { outbox.events.append(.audioReceived(earlier, transceivers.audio[index].id)) }
      outbox.events.append(.audioReceived(audio, transceivers.audio[index].id))
    case .dropped(let reason): drops[reason] += 1
    }
  }

  private func announce(_ frames: [ReceivedFrame], of index: Int, into outbox: inout Outbox) {
    for frame in frames { outbox.events.append(.frameReceived(frame, transceivers.video[index].id)) }
  }

  private mutating func recordArrival(_ packet: IncomingPacket, _ feedback: FeedbackMechanisms?, now: Timestamp) {
    guard let number = packet.transportNumber, let feedback, feedback.contains(.transportCC) else { return }
    arrivals.add(number, at: now)
    reportedSource = packet.header.ssrc
  }

  /// The round-trip time; before the first measurement, a typical value of the Internet.
  private func receivingRoundTrip(_ transport: borrowing Transport) -> TimeDelta {
    roundTripTime(transport) ?? .milliseconds(50)
  }

  // MARK: - Requests of ours

  /// Asks again for packets and key frames that are still missing.
  mutating func requestMissing(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    for index in transceivers.video.indices where transceivers.video[index].receiver.nextDeadline <= now {
      var frames: [ReceivedFrame] = []
      let requests = transceivers.video[index].receiver.deadlineReached(
        now, roundTrip: receivingRoundTrip(transport), frames: &frames)
      announce(frames, of: index, into: &outbox)
      send(requests, of: index, over: &transport, into: &outbox)
    }
  }

  /// - Parameter id: whose; nil: of every video that is received.
  package mutating func requestKeyFrames(
    of id: TransceiverID?, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    for index in transceivers.video.indices where id == nil || transceivers.video[index].id == id {
      var requests = VideoReceiver.Requests()
      requests.keyFrame = transceivers.video[index].receiver.requestKeyFrame(
        now, roundTrip: receivingRoundTrip(transport))
      send(requests, of: index, over: &transport, into: &outbox)
    }
  }

  private mutating func send(
    _ requests: VideoReceiver.Requests, of index: Int, over transport: inout Transport, into outbox: inout Outbox
  ) {
    guard let ssrc = transceivers.video[index].receiver.ssrc else { return }
    reporter.send(requests, to: ssrc, from: transceivers.primary.ssrc, over: &transport, into: &outbox.datagrams)
  }

  /// Sends transport-wide feedback on the arrived packets.
  mutating func sendFeedback(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    arrivals.postpone()
    // Before any media there may be padding, by which the sender probes.
    guard transport.canSend, let media = transceivers.receivedSource ?? reportedSource else { return }
    let sender = transceivers.primary.ssrc
    transport.sendRTCP(into: &outbox.datagrams) { writer in
      _ = arrivals.writeFeedback(sender: sender, media: media, into: &writer)
    }
    arrivals.continueFeedback(now)
  }

  mutating func sendReports(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    reporter.reportsSent(now)
    let (ntpTime, sender) = (reporter.ntpTime(now), transceivers.primary.ssrc)
    var blocks: [ReportBlock] = []
    for index in transceivers.video.indices {
      guard let block = transceivers.video[index].receiver.makeReportBlock(now) else { continue }
      blocks.append(block)
      guard let rate = transceivers.video[index].receiver.makeRateEstimate(block, now: now) else { continue }
      reporter.send(rate, for: block.source, from: sender, over: &transport, into: &outbox.datagrams)
    }
    for index in transceivers.audio.indices {
      if let block = transceivers.audio[index].receiver.makeReportBlock(now) { blocks.append(block) }
    }
    let reports =
      transceivers.video.compactMap { $0.sender.senderReport(now, ntpTime: ntpTime) }
      + transceivers.audio.compactMap { $0.sender.senderReport(now, ntpTime: ntpTime) }
    reporter.send(reports, blocks, from: transceivers.primary, over: &transport, into: &outbox.datagrams)
  }
}

// MARK: - RTCP that comes in

extension RTPSession {
  package mutating func receiveRTCP(
    _ bytes: Span<UInt8>, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    guard var compound = RTCPCompound(parsing: bytes) else {
      drops[.malformed] += 1
      return
    }
    while let packet = compound.next() { receive(packet, now: now, over: &transport, into: &outbox) }
    sendPaced(now, over: &transport, into: &outbox)
  }

  private mutating func receive(
    _ packet: RTCPPacket, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    switch packet.kind {
    case .senderReport:
      if let report = SenderReport(parsing: packet) { receive(report, now: now, over: &transport, into: &outbox) }
      receiveReportBlocks(packet, now: now, over: &transport, into: &outbox)
    case .receiverReport: receiveReportBlocks(packet, now: now, over: &transport, into: &outbox)
    case .genericNACK:
      guard let nack = GenericNACK(parsing: packet), let index = sentVideo(nack.media) else { return }
      let interval = max(roundTripTime(transport) ?? .milliseconds(20), .milliseconds(5))
      rate.noteRequest(now)
      let needsKeyFrame = transceivers.video[index].sender.receive(
        nack, history: rate.history, now: now, interval: interval, rate: targetShare,
        roundTrip: sendingRoundTrip(transport))
      if needsKeyFrame { requestKeyFrame(index, .loss, into: &outbox) }
    case .pictureLossIndication:
      guard let request = PictureLossIndication(parsing: packet), let index = sentVideo(request.media) else { return }
      let isMeant = transceivers.video[index].sender.receivePLI(
        now, history: rate.history, roundTrip: sendingRoundTrip(transport), ignoresRedundant: ignoresRedundantPLI)
      if isMeant { requestKeyFrame(index, .request, into: &outbox) }
    case .fullIntraRequest:
      guard let request = FullIntraRequest(parsing: packet) else { return }
      for number in 0..<request.count {
        let entry = request[number]
        guard let index = sentVideo(entry.media) else { continue }
        let isNew = transceivers.video[index].sender.receiveFIR(
          entry.commandSequenceNumber, now, roundTrip: sendingRoundTrip(transport))
        if isNew { requestKeyFrame(index, .request, into: &outbox) }
      }
    case .transportFeedback:
      guard mayTakeFeedback(now), let feedback = TransportFeedback(parsing: packet) else { return }
      rate.receive(feedback, now: now)
      noteFirstFeedback(now, over: &transport, into: &outbox)
      allocateBitrate(now, isSecured: transport.isSecured, isForced: false, into: &outbox)
    case .applicationLayerFeedback:
      guard let estimate = ReceiverEstimatedMaximumBitRate(parsing: packet), mayTakeFeedback(now) else { return }
      rate.setRemoteMaximum(estimate.bitRate, now: now)
      allocateBitrate(now, isSecured: transport.isSecured, into: &outbox)
    case .goodbye, .sourceDescription, .extendedReport, .other: break
    }
  }

  private mutating func mayTakeFeedback(_ now: Timestamp) -> Bool {
    let isAllowed = rateFeedback.mayTake(PeerLimits.rateFeedback, now: now)
    if !isAllowed { drops[.tooMuchFeedback] += 1 }
    return isAllowed
  }

  /// The video we send under this source.
  private func sentVideo(_ source: SSRC) -> Int? {
    for index in transceivers.video.indices
    where transceivers.video[index].sender.identity.ssrc == source && transceivers.video[index].sender.isSending {
      return index
    }
    return nil
  }

  private func sentAudio(_ source: SSRC) -> Int? {
    for index in transceivers.audio.indices
    where transceivers.audio[index].sender.identity.ssrc == source && transceivers.audio[index].sender.isSending {
      return index
    }
    return nil
  }

  private mutating func receive(
    _ report: SenderReport, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    for index in transceivers.video.indices {
      guard let clock = transceivers.video[index].receiver.receive(report, now: now) else { continue }
      outbox.events.append(.senderClockChanged(clock, transceivers.video[index].id))
    }
    for index in transceivers.audio.indices {
      guard let clock = transceivers.audio[index].receiver.receive(report, now: now) else { continue }
      outbox.events.append(.senderClockChanged(clock, transceivers.audio[index].id))
    }
  }

  private mutating func receiveReportBlocks(
    _ packet: RTCPPacket, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    guard let blocks = ReportBlocks(parsing: packet) else { return }
    for number in 0..<blocks.count {
      let block = blocks[number]
      if let index = sentVideo(block.source) {
        let loss = transceivers.video[index].sender.receive(block, countsLoss: !rate.hasFeedback(now))
        if let loss { rate.receiveLoss(loss, now: now) }
      } else if let index = sentAudio(block.source) {
        if let loss = transceivers.audio[index].sender.receive(block) {
          outbox.events.append(.audioLossReported(loss, transceivers.audio[index].id))
        }
      } else {
        continue
      }
      if let roundTrip = reporter.receive(block, now: now) { rate.setRoundTrip(roundTrip, now: now) }
    }
  }
}
