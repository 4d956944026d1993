package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The media half of a peer (RFC 3550's RTP session): all transceivers of one bundle, which share one transport, one
/// pacer, one rate control, one account of what arrived and one clock for reports. Takes frames, and packets that the
/// transport has decrypted; says which is whose, and in which order senders may send.
package struct RTPSession: ~Copyable {
  package var transceivers: Transceivers
  var demultiplexer = RTPDemultiplexer()
  var arrivals = TWCCRecorder()
  package internal(set) var rate: RateControl
  private var roundRobin = RoundRobin()
  private var firstMeasurement: FirstMeasurement
  var reporter: RTCPReporter
  /// The source of the last received packet, which feedback names.
  var reportedSource: SSRC?
  /// Received packets that were not used, by reason.
  package internal(set) var drops = DropCounts()
  /// How much feedback for congestion control has come.
  var rateFeedback = PeerLimits.Account()
  /// Memory for frames on their way out, empty in between.
  var frames: [ReceivedFrame] = []
  let ignoresRedundantPLI: Bool

  /// - Parameter random: drawn from on. `primary` was drawn from it.
  package init(_ configuration: PeerConfiguration, primary: SendStreamIdentity, random: SeededGenerator) {
    transceivers = Transceivers(
      primary: primary, audioBitrates: configuration.audioBitrates,
      waitingMemory: ByteBudget(bytes: PeerLimits.waitingBytes, within: configuration.waitingMemory), random: random)
    rate = RateControl(
      estimator: configuration.makeEstimator(configuration.bitrates), log: configuration.rateLog)
    firstMeasurement = FirstMeasurement(wait: configuration.firstPictureWait)
    reporter = RTCPReporter(wallClockOffset: configuration.wallClockOffset)
    ignoresRedundantPLI = configuration.ignoresRedundantPLI
  }

  /// By the remote peer's reports, else by ICE; nil before the first of either.
  package func roundTripTime(_ transport: borrowing Transport) -> TimeDelta? {
    reporter.roundTripTime ?? transport.roundTripTime
  }

  /// Everything goes another way, whose round trip ICE has just measured.
  package mutating func routeChanged(_ now: Timestamp) {
    reporter.routeChanged()
    rate.routeChanged(now)
  }

  // MARK: - Agreement and life

  /// Puts to work what two descriptions have agreed on.
  package mutating func configure(
    _ agreed: NegotiatedSession, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    for index in transceivers.video.indices {
      let id = transceivers.video[index].id
      let hasStopped = transceivers.video[index].configure(agreed.media.first { $0.transceiver == id })
      if hasStopped { outbox.events.append(.sendingStopped(id)) }
    }
    for index in transceivers.audio.indices {
      let id = transceivers.audio[index].id
      transceivers.audio[index].configure(agreed.media.first { $0.transceiver == id })
    }
    demultiplexer.configure(
      agreed.media.map { media in
        RTPDemultiplexer.Section(
          transceiver: media.transceiver, mid: media.reference.mid.flatMap { RTPStreamID($0) },
          payloadTypes: transceivers.receivedPayloadTypes(of: media.transceiver),
          sources: media.remoteSources.map(\.ssrc), isReceived: media.direction.receives)
      }, extensionMap: RTPHeaderExtensionMap(agreed.headerExtensions))
    updateSending(now, over: &transport, into: &outbox)
  }

  /// Follows our offers: offered media may arrive from now on, and early packets are handled when the answer arrives.
  package mutating func update(
    for negotiation: Negotiation, over transport: inout Transport, into outbox: inout Outbox
  ) {
    for packet in demultiplexer.update(for: negotiation) { receiveEarly(packet, over: &transport, into: &outbox) }
  }

  /// Our offer was dropped; packets kept for it are discarded.
  package mutating func discardEarly() { demultiplexer.discardEarly() }

  /// Gives a transceiver its place and its numbers.
  /// - Returns: what descriptions call it.
  package mutating func add(_ id: TransceiverID, _ kind: MediaKind, _ track: TrackName?) -> LocalTrack {
    transceivers.add(id, kind, track) { demultiplexer.knows($0) }
  }

  /// Changes the sources of our streams that have not begun, if the remote peer uses the same numbers.
  package mutating func avoidSources(of offer: SessionDescription) {
    transceivers.avoid(Set(offer.media.lazy.flatMap(\.sources).map(\.ssrc))) { demultiplexer.knows($0) }
  }

  package mutating func setMuted(_ isMuted: Bool, of id: TransceiverID) {
    if case .video(let index) = transceivers.place(of: id) { transceivers.video[index].sender.setMuted(isMuted) }
  }

  /// New bounds for the bitrate of all video together.
  package mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) { rate.setLimits(limits, now: now) }

  /// The transport is secured: media may flow. Where there are video to be sent and means to probe, probes come first.
  package mutating func start(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    rate.start(now)
    reporter.start(now)
    guard rate.isProbing, transceivers.video.contains(where: \.sender.mayProbeFirst) else { return }
    firstMeasurement.begin(now, roundTrip: roundTripTime(transport))
    if firstMeasurement.isOn { sendPaced(now, over: &transport, into: &outbox) }
  }

  /// Releases the state of a stopped transceiver.
  package mutating func retire(_ id: TransceiverID, into outbox: inout Outbox) {
    if transceivers.isSending(id) { outbox.events.append(.sendingStopped(id)) }
    transceivers.end(id)
    demultiplexer.remove(id)
  }

  /// Sends RTCP BYE for one transceiver, or for all sent streams.
  package mutating func sendGoodbye(
    for id: TransceiverID? = nil, over transport: inout Transport, into outbox: inout Outbox
  ) {
    let sources = transceivers.sentSources(of: id)
    guard !sources.isEmpty else { return }
    reporter.sendGoodbye(sources, from: transceivers.primary.ssrc, over: &transport, into: &outbox.datagrams)
  }

  /// Sends and receives nothing any more.
  package mutating func end() {
    transceivers.endAll()
    demultiplexer.end()
  }

  // MARK: - Time

  /// Adds all deadlines of the session.
  package func considerDeadlines(_ next: inout EarliestDeadline<PeerTimer>) {
    next.consider(rate.pacer.nextDeadline, .pacer)
    next.consider(firstMeasurement.deadline, .firstMeasurement)
    next.consider(reporter.nextDeadline, .reports)
    next.consider(rate.nextDeadline, .rate)
    for index in transceivers.audio.indices {
      next.consider(transceivers.audio[index].sender.nextDeadline, .audioSender)
    }
    for index in transceivers.video.indices {
      next.consider(transceivers.video[index].receiver.nextDeadline, .videoReceiver)
    }
    next.consider(arrivals.nextDeadline, .feedback)
    for index in transceivers.video.indices {
      next.consider(transceivers.video[index].sender.nextDeadline, .videoSender)
    }
  }

  /// Performs the work of one of these deadlines.
  package mutating func deadlineReached(
    _ timer: PeerTimer, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    switch timer {
    case .pacer: sendPaced(now, over: &transport, into: &outbox)
    case .firstMeasurement: endFirstMeasurement(now, over: &transport, into: &outbox)
    case .reports: sendReports(now, over: &transport, into: &outbox)
    case .rate:
      rate.deadlineReached(now)
      allocateBitrate(now, isSecured: transport.isSecured, isForced: false, into: &outbox)
      sendPaced(now, over: &transport, into: &outbox)
    case .audioSender:
      for index in transceivers.audio.indices where transceivers.audio[index].sender.nextDeadline <= now {
        guard let rate = transceivers.audio[index].sender.deadlineReached(now) else { continue }
        outbox.events.append(.audioTargetBitrateChanged(rate, transceivers.audio[index].id))
      }
    case .videoReceiver: requestMissing(now, over: &transport, into: &outbox)
    case .feedback: sendFeedback(now, over: &transport, into: &outbox)
    case .videoSender: runVideoSenders(now, over: &transport, into: &outbox)
    case .transport, .dataChannels: break  // not the session's
    }
  }
}

// MARK: - What goes out

extension RTPSession {
  /// Before anything was measured, nothing is waited for.
  func sendingRoundTrip(_ transport: borrowing Transport) -> TimeDelta { roundTripTime(transport) ?? .zero }

  package mutating func send(
    _ frame: EncodedFrame, of id: TransceiverID, now: Timestamp, over transport: inout Transport,
    into outbox: inout Outbox
  ) {
    guard case .video(let index) = transceivers.place(of: id) else { return }
    transceivers.video[index].sender.networkChanged(
      loss: rate.smoothedLoss, roundTrip: sendingRoundTrip(transport), overhead: rate.protectionRoom(now), now: now)
    let needsKeyFrame = transceivers.video[index].sender.send(
      frame, now: now, rate: pacingShare, roundTrip: sendingRoundTrip(transport))
    if needsKeyFrame {
      requestKeyFrame(index, .backlog, into: &outbox)
    } else {
      sendPaced(now, over: &transport, into: &outbox)
    }
  }

  /// The pacer's rate for one video while all have something to send.
  private var pacingShare: BitRate { share(of: rate.pacer.rate) }

  /// The target rate for one video while all have something to send.
  var targetShare: BitRate { share(of: rate.estimate.target) }

  private func share(of all: BitRate) -> BitRate {
    var count = 0
    for index in transceivers.video.indices where transceivers.video[index].sender.isActive { count += 1 }
    return count > 1 ? all.scaled(by: 1 / Double(count)) : all
  }

  /// The estimated time until a packet sent now leaves all queues, here and in the network.
  package func backlog(_ now: Timestamp) -> TimeDelta { rate.backlog(now) }

  /// Bytes of data channels left.
  package mutating func countData(bytes: Int, now: Timestamp) { rate.sentData(bytes: bytes, now: now) }

  /// Sends `frame` at once: audio is small, and a gap in sound is noticed earlier than one in video. Packets in the
  /// pacer keep waiting.
  package mutating func send(
    _ frame: EncodedAudioFrame, of id: TransceiverID, now: Timestamp, over transport: inout Transport,
    into outbox: inout Outbox
  ) {
    guard case .audio(let index) = transceivers.place(of: id), let route = transport.selectedRoute else { return }
    let moment = DepartureFields(now: now, transportNumber: rate.history.nextNumber)
    var kind: SentPacket.Kind?
    let count = outbox.datagrams.append(to: route) { datagram in
      let packet = transceivers.audio[index].sender.write(frame, into: &datagram, at: moment, over: &transport)
      kind = packet.kind
      return packet.count
    }
    if count > 0, let kind { rate.sent(kind, size: count, now: now) }
  }

  /// Sends what waits, as fast as the pacer allows.
  mutating func sendPaced(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    rate.releasePacer()
    guard transport.isSecured, let route = transport.selectedRoute, var index = nextSender() else {
      noteQueue()  // what waited may have been given up
      return sendPadding(now, over: &transport, into: &outbox)
    }
    while true {
      guard rate.maySend(now) else { return noteQueue() }
      sendPacket(of: index, to: route, now: now, over: &transport, into: &outbox)
      guard let next = nextSender() else { break }
      index = next
    }
    rate.setQueued(0)
    for index in transceivers.video.indices {
      let needsKeyFrame = transceivers.video[index].sender.queueDrained(
        now, history: rate.history, roundTrip: sendingRoundTrip(transport))
      if needsKeyFrame { requestKeyFrame(index, .backlog, into: &outbox) }
    }
    sendPadding(now, over: &transport, into: &outbox)
  }

  private mutating func noteQueue() {
    rate.setQueued(transceivers.video.reduce(0) { $0 + $1.sender.queuedBytes })
  }

  /// Fills a probe with packets that were sent already, when nothing else waits.
  private mutating func sendPadding(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    guard rate.isProbing, transport.isSecured, let route = transport.selectedRoute else { return }
    let isFirst = firstMeasurement.isOn
    let mayPad = { (video: VideoTransceiver) in isFirst ? video.sender.mayProbeFirst : video.sender.mayPad }
    guard let index = transceivers.video.firstIndex(where: mayPad) else { return rate.dropProbes() }
    while rate.isProbing, rate.maySend(now) {
      let moment = DepartureFields(now: now, transportNumber: rate.history.nextNumber)
      let count = outbox.datagrams.append(to: route) { datagram in
        transceivers.video[index].sender.writePadding(into: &datagram, at: moment, over: &transport)
      }
      guard count > 0 else { return rate.dropProbes() }
      rate.sent(.padding, size: count, now: now)
    }
  }

  private mutating func nextSender() -> Int? {
    roundRobin.next(of: transceivers.video.count) { transceivers.video[$0].sender.hasPending }
  }

  private mutating func sendPacket(
    of index: Int, to route: Route, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    let moment = DepartureFields(now: now, transportNumber: rate.history.nextNumber)
    var kind: SentPacket.Kind?
    let count = outbox.datagrams.append(to: route) { datagram in
      let packet = transceivers.video[index].sender.writeNext(into: &datagram, at: moment, over: &transport)
      kind = packet.kind
      return packet.count
    }
    if count > 0 { rate.sent(kind, size: count, now: now) }
  }

  /// Performs due work of video senders: tail loss probes and delayed key-frame requests.
  mutating func runVideoSenders(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    for index in transceivers.video.indices where transceivers.video[index].sender.nextDeadline <= now {
      let attempt = transceivers.video[index].sender.probeAttempts + 1
      let outcome = transceivers.video[index].sender.deadlineReached(
        now, history: rate.history, roundTrip: sendingRoundTrip(transport), loss: rate.smoothedLoss)
      if outcome.queuesProbe || outcome.queuesCopies { sendPaced(now, over: &transport, into: &outbox) }
      if outcome.queuesProbe {
        transceivers.video[index].sender.probeSent(
          now, attempt: attempt, history: rate.history, roundTrip: sendingRoundTrip(transport))
      }
      if outcome.requestsKeyFrame { requestKeyFrame(index, .request, into: &outbox) }
    }
  }

  func requestKeyFrame(_ index: Int, _ reason: KeyFrameReason, into outbox: inout Outbox) {
    outbox.events.append(.keyFrameRequested(reason, transceivers.video[index].id))
  }

  /// The first pictures may leave.
  private mutating func endFirstMeasurement(
    _ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    firstMeasurement.end()
    updateSending(now, over: &transport, into: &outbox)
  }

  /// Sends the first pictures when feedback has covered all probes, and one of them gave a result.
  mutating func noteFirstFeedback(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    guard firstMeasurement.isOn, rate.hasHeardOfAll else { return }
    guard rate.isProbing, rate.estimate.reason == .start else {
      return endFirstMeasurement(now, over: &transport, into: &outbox)
    }
    firstMeasurement.extend()
    sendPaced(now, over: &transport, into: &outbox)
  }

  /// Starts and stops sending by the negotiation and the state of the connection.
  mutating func updateSending(_ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    let isSecured = transport.isSecured && !firstMeasurement.isOn
    for index in transceivers.video.indices where transceivers.video[index].sender.updateSending(isSecured: isSecured) {
      let (id, sends) = (transceivers.video[index].id, transceivers.video[index].sender.isSending)
      outbox.events.append(sends ? .sendingStarted(id) : .sendingStopped(id))
    }
    for index in transceivers.audio.indices {
      let id = transceivers.audio[index].id
      if transceivers.audio[index].sender.updateSending(isSecured: transport.isSecured, now: now) {
        outbox.events.append(transceivers.audio[index].sender.isSending ? .sendingStarted(id) : .sendingStopped(id))
      }
      if let preferences = transceivers.audio[index].sender.changedPreferences() {
        outbox.events.append(.opusPreferencesChanged(preferences, id))
      }
    }
    allocateBitrate(now, isSecured: transport.isSecured, into: &outbox)
    // A video that starts, or whose format changes, begins with a key frame.
    for index in transceivers.video.indices where transceivers.video[index].sender.needsKeyFrame {
      if transceivers.video[index].sender.requestKeyFrame(now, roundTrip: sendingRoundTrip(transport)) {
        requestKeyFrame(index, .begin, into: &outbox)
      }
    }
  }

  /// Allocates the target bitrate to the videos. Audio has priority: it has its own rate, and never waits for the
  /// pacer.
  /// - Parameter isForced: the set of videos has changed; otherwise small changes are not reported.
  mutating func allocateBitrate(
    _ now: Timestamp, isSecured: Bool, isForced: Bool = true, into outbox: inout Outbox
  ) {
    guard isSecured, let target = rate.newVideoTarget(now, isForced: isForced) else { return }
    let active = transceivers.video.indices.filter { transceivers.video[$0].sender.isActive }
    let shares = BitrateAllocator.shares(
      of: target, ceilings: active.map { transceivers.video[$0].sender.ceiling }, minimum: rate.minimum)
    for (index, share) in zip(active, shares) where transceivers.video[index].sender.allocate(share) {
      outbox.events.append(.targetBitrateChanged(share, transceivers.video[index].id))
    }
  }
}
