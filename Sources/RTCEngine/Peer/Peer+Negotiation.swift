import RTCICE
import RTCPrimitives
import RTCWire

// MARK: - Commands

extension Peer {
  mutating func carryOut(
    _ command: Command, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    switch command {
    case .addTransceiver(let kind, let direction, let track):
      return try .transceiver(addTransceiver(kind, direction, track, for: .ownSection))
    case .addTrack(let kind, let track): return try .transceiver(addTrack(kind, track))
    case .setDirection(let direction, let id):
      try checkRuns(id)
      negotiation[id].direction = direction
    case .setTrack(let track, let id):
      try checkRuns(id)
      media.transceivers.setTrack(track, of: id)
      media.allocateBitrate(now, isSecured: transport.isSecured, into: &outbox)
    case .setMuted(let isMuted, let id):
      media.setMuted(isMuted, of: id)
      media.allocateBitrate(now, isSecured: transport.isSecured, into: &outbox)
    case .stop(let id):
      try checkRuns(id)
      stop(id, into: &outbox)
    case .setLocalDescription(let credentials):
      guard negotiation.signalingState == .haveRemoteOffer else { return try createOffer(now: now, into: &outbox) }
      return try answerPendingOffer(credentials, now: now, into: &outbox)
    case .setRemoteDescription(let description):
      switch description.kind {
      case .offer: try setRemoteOffer(description.sdp)
      case .answer: try acceptAnswer(description.sdp, now: now, into: &outbox)
      }
    case .negotiate(let description, let politeness, let credentials):
      return try negotiate(description, politeness, credentials, now: now, into: &outbox)
    case .rollback: try rollBack()
    case .restartICE(let credentials): negotiation.transport.credentials = credentials
    case .addRemoteCandidate(let candidate):
      try transport.addRemoteCandidate(candidate, isStable: negotiation.signalingState == .stable, now: now)
    case .startConfiguration: negotiationNeeded.startBatch()
    case .commitConfiguration: negotiationNeeded.commitBatch()
    case .createOffer: return try createOffer(now: now, into: &outbox)
    case .acceptOffer(let sdp):
      let offer = try SessionDescription(ofPeer: sdp)
      let templates = [configuration.template(.video), configuration.template(.audio)]
      try NegotiationFailure.translating { () throws(NegotiationError) in
        try negotiation.setRemoteOffer(offer, keepingTransportBy: templates)
      }
      matchTransceivers()
      avoidSources(of: offer)
      return try makeAnswer(now: now, into: &outbox)
    case .acceptAnswer(let sdp): try acceptAnswer(sdp, now: now, into: &outbox)
    case .addRemoteCandidates(let fragment): try addRemoteCandidates(fragment, now: now)
    case .setLocalCandidates(let candidates, let isComplete):
      setLocalCandidates(candidates, isComplete: isComplete, now: now, into: &outbox)
    case .resolvedCandidate(let name, let ip): transport.resolve(name, ip, now: now)
    case .routeRefused(let route): transport.refuse(route, now: now)
    case .applyFragment(let text, let fresh): return try applyFragment(text, fresh, now: now, into: &outbox)
    case .restartFragment(let fresh): return try restartFragment(fresh, now: now, into: &outbox)
    case .acceptFragment(let text): try acceptFragment(text, now: now)
    case .localFragment: return try describeFragment()
    case .setBitrateLimits(let limits):
      media.setLimits(limits, now: now)
      media.allocateBitrate(now, isSecured: transport.isSecured, into: &outbox)
    case .requestKeyFrame(let id): media.requestKeyFrames(of: id, now: now, over: &transport, into: &outbox)
    case .close: close(now: now, into: &outbox)
    case .sendAway: close(because: .tooCostly, now: now, into: &outbox)
    }
    return .done
  }

  /// Applies the changes of a command to the transceivers and the demultiplexer, and reports them as events.
  mutating func settleNegotiation(_ before: SignalingState, into outbox: inout Outbox) {
    guard !isEnded else { return }
    matchTransceivers()
    describeSources()
    if negotiation.signalingState != before {
      outbox.events.append(.signalingStateChanged(negotiation.signalingState))
      if negotiation.signalingState == .stable { negotiationNeeded.reset() }
    }
    announceRemoteTracks(into: &outbox)
    announceNames(into: &outbox)
    media.update(for: negotiation, over: &transport, into: &outbox)
    announceNegotiationNeed(into: &outbox)
  }

  mutating func announceNegotiationNeed(into outbox: inout Outbox) {
    guard negotiation.signalingState == .stable,
      negotiationNeeded.update(isNeeded: negotiation.isNegotiationNeeded)
    else { return }
    outbox.events.append(.negotiationNeeded)
  }

  /// Reports new and ended tracks of the remote peer since the last report.
  private mutating func announceRemoteTracks(into outbox: inout Outbox) {
    let tracks = negotiation.remoteTracks
    guard tracks != remoteTracks else { return }
    for track in remoteTracks where !tracks.contains(where: { $0.transceiver == track.transceiver }) {
      outbox.events.append(.trackRemoved(track))
    }
    for track in tracks where !remoteTracks.contains(where: { $0.transceiver == track.transceiver }) {
      outbox.events.append(.trackAdded(track))
    }
    remoteTracks = tracks
  }
}

// MARK: - Transceivers

extension Peer {
  /// Gives the transceiver its place in the peer.
  mutating func place(_ id: TransceiverID, _ track: TrackName?) {
    negotiation[id].track = media.add(id, negotiation[id].kind, track)
  }

  private mutating func addTransceiver(
    _ kind: MediaKind, _ direction: MediaDirection, _ track: TrackName?, for purpose: TransceiverPurpose
  ) throws(NegotiationFailure) -> TransceiverID {
    guard media.transceivers.count < PeerLimits.transceiversInAll else {
      throw NegotiationFailure(
        kind: .wrongState, sentence: "This connection has had too many transceivers; make a new one.")
    }
    var wanted = configuration.template(kind)
    wanted.direction = direction
    let id = negotiation.add(wanted, for: purpose)
    place(id, track)
    return id
  }

  /// Takes up a transceiver that could send but never has (RFC 8829 §5.1), or a new one.
  private mutating func addTrack(
    _ kind: MediaKind, _ track: TrackName
  ) throws(NegotiationFailure) -> TransceiverID {
    guard let id = media.transceivers.idle(kind).first(where: { !negotiation.isStopped($0) }) else {
      return try addTransceiver(kind, .sendrecv, track, for: .track)
    }
    negotiation.claim(id)
    negotiation[id].direction = MediaDirection(sends: true, receives: negotiation[id].direction.receives)
    media.transceivers.setTrack(track, of: id)
    negotiation[id].track = media.transceivers.localTrack(id, track)
    return id
  }

  /// Throws if there is no such transceiver of ours, or it was stopped.
  private func checkRuns(_ id: TransceiverID) throws(NegotiationFailure) {
    guard negotiation.knows(id), !negotiation.isStopped(id) else {
      throw NegotiationFailure(
        kind: .wrongState, sentence: "There is no \(id), or it was stopped; add a new transceiver.")
    }
  }

  /// Stops the transceiver at once on our side; the remote peer is notified by BYE, and by the next offer.
  private mutating func stop(_ id: TransceiverID, into outbox: inout Outbox) {
    negotiation.stop(id)
    media.sendGoodbye(for: id, over: &transport, into: &outbox)
    media.retire(id, into: &outbox)
  }

  /// Makes places for transceivers that the remote peer's offer called for, and takes them back after a rollback.
  private mutating func matchTransceivers() {
    media.transceivers.removeAll { !negotiation.knows($0) }
    for id in negotiation.transceiverIDs where media.transceivers.place(of: id) == nil { place(id, nil) }
  }

  /// Writes the sources that we send into our descriptions.
  private mutating func describeSources() {
    for item in media.transceivers.video {
      negotiation[item.id].track?.ssrc = item.sender.identity.ssrc
      negotiation[item.id].track?.rtxSSRC = item.sender.identity.rtxSSRC
      negotiation[item.id].track?.fecSSRC = item.sender.identity.fecSSRC
    }
    for item in media.transceivers.audio { negotiation[item.id].track?.ssrc = item.sender.identity.ssrc }
  }

  private mutating func avoidSources(of offer: SessionDescription) {
    media.avoidSources(of: offer)
    describeSources()
  }
}

// MARK: - Descriptions

extension Peer {
  private mutating func createOffer(
    now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    let offer = try NegotiationFailure.translating { () throws(NegotiationError) in try negotiation.createOffer() }
    if negotiation.session == nil { transport.offerFirst() }
    if state == .new { transport.limitConnecting(now) }
    announceUsernameFragment(negotiation.transport.credentials, into: &outbox)
    announcedCandidates.describe(negotiation.transport)
    return .description(Description(kind: .offer, sdp: offer.description))
  }

  /// Takes an offer to be answered later; its m-sections get transceivers.
  private mutating func setRemoteOffer(_ text: String) throws(NegotiationFailure) {
    let offer = try SessionDescription(ofPeer: text)
    let templates = [configuration.template(.video), configuration.template(.audio)]
    try NegotiationFailure.translating { () throws(NegotiationError) in
      try negotiation.setRemoteOffer(offer, making: templates)
    }
    matchTransceivers()
    avoidSources(of: offer)
  }

  /// - Parameter credentials: used if the offer restarts ICE.
  private mutating func answerPendingOffer(
    _ credentials: ICECredentials, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    if negotiation.remoteRestartsICE,
      negotiation.transport.credentials == negotiation.session?.transport.localCredentials
    {
      negotiation.transport.credentials = credentials
    }
    return try makeAnswer(now: now, into: &outbox)
  }

  private mutating func makeAnswer(
    now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    let answer = try NegotiationFailure.translating { () throws(NegotiationError) in try negotiation.createAnswer() }
    if let session = negotiation.session { try apply(session, now: now, into: &outbox) }
    announcedCandidates.describe(negotiation.transport)
    return .description(Description(kind: .answer, sdp: answer.description))
  }

  private mutating func acceptAnswer(
    _ text: String, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let answer = try SessionDescription(ofPeer: text)
    let session = try NegotiationFailure.translating { () throws(NegotiationError) in
      try negotiation.setRemoteAnswer(answer)
    }
    try apply(session, now: now, into: &outbox)
  }

  private mutating func negotiate(
    _ description: Description, _ politeness: Politeness, _ credentials: ICECredentials, now: Timestamp,
    into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    guard case .offer = description.kind else {
      try acceptAnswer(description.sdp, now: now, into: &outbox)
      return .done
    }
    if negotiation.signalingState == .haveLocalOffer {
      guard case .polite = politeness else { return .offerIgnored }
      try rollBack()
      negotiationNeeded.reset()
    }
    try setRemoteOffer(description.sdp)
    return try answerPendingOffer(credentials, now: now, into: &outbox)
  }

  private mutating func rollBack() throws(NegotiationFailure) {
    try NegotiationFailure.translating { () throws(NegotiationError) in try negotiation.rollback() }
    media.discardEarly()
  }

  // MARK: - Agreement

  /// Applies the result of a negotiation: candidates, DTLS role, codecs and directions.
  private mutating func apply(
    _ session: NegotiatedSession, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    try transport.apply(session.transport, now: now)
    announceUsernameFragment(session.transport.localCredentials, into: &outbox)
    media.configure(session, now: now, over: &transport, into: &outbox)
    for id in negotiation.transceiverIDs where negotiation.isStopped(id) { media.retire(id, into: &outbox) }
    updateDataChannels(now, into: &outbox)
    if state == .new { change(to: .connecting, into: &outbox) }
  }

  /// The owner finds peers by the user name of STUN requests, so it must know all names of this peer.
  func announceUsernameFragment(_ credentials: ICECredentials, into outbox: inout Outbox) {
    guard credentials.usernameFragment != configuration.iceCredentials.usernameFragment else { return }
    outbox.events.append(.usernameFragmentAdded(credentials.usernameFragment))
  }

  /// Starts SCTP when there is an m-section for it and the transport is secured; ends it when its m-section was turned
  /// off.
  mutating func updateDataChannels(_ now: Timestamp, into outbox: inout Outbox) {
    guard !isEnded, let session = negotiation.session else { return }
    if let agreed = session.dataChannels {
      guard transport.isSecured else { return }
      channels.start(
        agreed, isClient: session.transport.dtlsRole == .client, now: now, over: &transport, into: &outbox)
    } else if session.turnsOffDataChannels {
      channels.turnOff(now: now, over: &transport, into: &outbox)
    }
  }
}
