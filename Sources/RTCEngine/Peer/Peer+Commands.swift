import RTCPrimitives
import RTCWire

extension Peer {
  /// Carries out `command`, and tells what has changed by it. A command that fails has changed nothing.
  mutating func perform(_ command: Command, now: Timestamp, into outbox: inout Outbox) {
    if case .dataChannel(let request) = command { return perform(request, now: now, into: &outbox) }
    guard !isEnded else {
      if !command.expectsResult { return }
      outbox.events.append(
        .negotiationFailed(
          NegotiationFailure(kind: .wrongState, sentence: "This connection has ended; make a new one.")))
      return
    }
    let before = negotiation.signalingState
    let saved = negotiation
    do throws(NegotiationFailure) {
      try carryOut(command, now: now, into: &outbox)
    } catch {
      negotiation = saved
      outbox.events.append(.negotiationFailed(error))
    }
    guard !isEnded else { return }
    matchTransceivers()
    describeSources()
    if negotiation.signalingState != before {
      outbox.events.append(.signalingStateChanged(negotiation.signalingState))
      if negotiation.signalingState == .stable { notice.reset() }
    }
    tellRemoteTracks(into: &outbox)
    followOffer(into: &outbox)
    tellNegotiationNeed(into: &outbox)
    timers[.ice] = ice.nextDeadline ?? .distantFuture
  }

  mutating func tellNegotiationNeed(into outbox: inout Outbox) {
    guard negotiation.signalingState == .stable, notice.update(isNeeded: negotiation.isNegotiationNeeded) else {
      return
    }
    outbox.events.append(.negotiationNeeded)
  }

  private mutating func carryOut(
    _ command: Command, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    switch command {
    case .addTransceiver(let kind, let direction, let track):
      try addTransceiver(kind, direction, track, into: &outbox)
    case .addTrack(let kind, let track): try addTrack(kind, track, into: &outbox)
    case .setDirection(let direction, let id):
      try checkRuns(id)
      negotiation[id].direction = direction
    case .setTrack(let track, let id):
      try checkRuns(id)
      setTrack(track, of: id)
      announceBitrate(into: &outbox)
    case .setMuted(let isMuted, let id):
      setMuted(isMuted, of: id)
      announceBitrate(into: &outbox)
    case .stop(let id):
      try checkRuns(id)
      stop(id, into: &outbox)
    case .setLocalDescription(let credentials): try setLocalDescription(credentials, now: now, into: &outbox)
    case .setRemoteDescription(let description): try setRemoteDescription(description, now: now, into: &outbox)
    case .negotiate(let description, let politeness, let credentials):
      try negotiate(description, politeness, credentials, now: now, into: &outbox)
    case .rollback:
      try Peer.translating { () throws(NegotiationError) in try negotiation.rollback() }
      early?.discard()
    case .restartICE(let credentials): negotiation.transport.credentials = credentials
    case .addRemoteCandidate(let candidate): try addRemoteCandidate(candidate, now: now)
    case .startConfiguration: notice.startBatch()
    case .commitConfiguration: notice.commitBatch()
    case .createOffer: try createOffer(now: now, into: &outbox)
    case .acceptOffer(let sdp): try acceptOffer(sdp, now: now, into: &outbox)
    case .acceptAnswer(let sdp): try acceptAnswer(sdp, now: now, into: &outbox)
    case .addRemoteCandidates(let fragment): try addRemoteCandidates(fragment, now: now)
    case .setBitrateLimits(let limits):
      bitrate.setLimits(limits)
      announceBitrate(into: &outbox)
    case .requestKeyFrame(let id): askForKeyFrames(id, now: now, into: &outbox)
    case .dataChannel: break  // done already, ended or not
    case .close: close(now: now, into: &outbox)
    }
  }

  /// Tells what has come and gone of the far side's tracks since it was last told.
  private mutating func tellRemoteTracks(into outbox: inout Outbox) {
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

  private mutating func close(now: Timestamp, into outbox: inout Outbox) {
    closeDataChannels(now, into: &outbox)
    sendGoodbye(into: &outbox)
    if let route = ice.selectedRoute { dtls?.close(route: route, into: &outbox.datagrams) }
    negotiation.close()
    end(.closedLocally, into: &outbox)
  }
}
