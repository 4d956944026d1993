import RTCDtls
import RTCIce
import RTCPrimitives
import RTCWire

extension Peer {
  mutating func perform(_ command: Command, now: Timestamp, into outbox: inout Outbox) {
    if case .dataChannel(let request) = command { return perform(request, now: now, into: &outbox) }
    guard !isEnded else {
      if !command.expectsDescription { return }
      outbox.events.append(
        .negotiationFailed(
          NegotiationFailure(kind: .wrongState, sentence: "This connection has ended; make a new one.")))
      return
    }
    do throws(NegotiationFailure) {
      switch command {
      case .createOffer: try createOffer(now: now, into: &outbox)
      case .acceptOffer(let sdp): try acceptOffer(sdp, now: now, into: &outbox)
      case .acceptAnswer(let sdp): try acceptAnswer(sdp, now: now, into: &outbox)
      case .addRemoteCandidates(let fragment): try addRemoteCandidates(fragment, now: now)
      case .setBitrateLimits(let limits):
        bitrate.setLimits(limits)
        if isSecured { announceBitrate(into: &outbox) }
      case .requestKeyFrame: askForKeyFrame(now, into: &outbox)
      case .dataChannel: break  // done above, ended or not
      case .close: close(now: now, into: &outbox)
      }
    } catch {
      outbox.events.append(.negotiationFailed(error))
    }
    if !isEnded { timers[.ice] = ice.nextDeadline ?? .distantFuture }
  }

  // MARK: - Descriptions

  private mutating func createOffer(now: Timestamp, into outbox: inout Outbox) throws(NegotiationFailure) {
    let offer = try Peer.translating { () throws(NegotiationError) in try negotiation.createOffer() }
    if state == .new { timers.advance(.connect, to: now + configuration.connectTimeout) }
    outbox.events.append(.localDescription(offer.description, isOffer: true))
  }

  private mutating func acceptOffer(
    _ text: String, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let offer = try Peer.parse(text)
    let answer = try Peer.translating { () throws(NegotiationError) in
      try negotiation.setRemoteOffer(offer)
      do throws(NegotiationError) {
        return try negotiation.createAnswer()
      } catch {
        try? negotiation.rollback()
        throw error
      }
    }
    if let session = negotiation.session { try apply(session, now: now) }
    outbox.events.append(.localDescription(answer.description, isOffer: false))
    change(to: state == .new ? .connecting : state, into: &outbox)
    updateDataChannels(now, into: &outbox)
  }

  private mutating func acceptAnswer(
    _ text: String, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let answer = try Peer.parse(text)
    let session = try Peer.translating { () throws(NegotiationError) in try negotiation.setRemoteAnswer(answer) }
    try apply(session, now: now)
    change(to: state == .new ? .connecting : state, into: &outbox)
    updateDataChannels(now, into: &outbox)
  }

  private mutating func addRemoteCandidates(_ text: String, now: Timestamp) throws(NegotiationFailure) {
    let fragment: TrickleFragment
    do throws(SDPError) {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The candidates cannot be read: \(error).")
    }
    let ufrag = fragment.effectiveCredentials?.usernameFragment
    if let ufrag, let known = negotiation.session?.transport.remoteCredentials.usernameFragment, ufrag != known {
      throw NegotiationFailure(
        kind: .unsupported, sentence: "An ICE restart by fragment is not possible here; open a new session.")
    }
    for candidate in fragment.candidates {
      guard let usable = IceCandidate(candidate) else { continue }
      ice.addRemoteCandidate(usable, usernameFragment: candidate.usernameFragment ?? ufrag, now: now)
    }
  }

  private static func parse(_ text: String) throws(NegotiationFailure) -> SessionDescription {
    do throws(SDPError) {
      return try SessionDescription(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The description cannot be read: \(error).")
    }
  }

  /// Runs `body` and says what went wrong in a sentence for whoever made the description.
  private static func translating<Result>(
    _ body: () throws(NegotiationError) -> Result
  ) throws(NegotiationFailure) -> Result {
    do throws(NegotiationError) {
      return try body()
    } catch {
      let kind: NegotiationFailure.Kind =
        switch error {
        case .misuse: .wrongState
        case .nothingAccepted, .peer(.noCommonCodec, _): .noCommonCodec
        case .peer(.missingRTCPMux, _), .peer(.notBundled, _), .peer(.unsupportedFingerprint, _): .unsupported
        case .peer: .malformed
        }
      throw NegotiationFailure(kind: kind, sentence: "The description cannot be used: \(error).")
    }
  }

  // MARK: - Agreement

  /// Puts what was agreed to work: candidates, DTLS role, codecs.
  private mutating func apply(_ session: NegotiatedSession, now: Timestamp) throws(NegotiationFailure) {
    let transport = session.transport
    guard
      let credentials = IceCredentials(
        usernameFragment: transport.remoteCredentials.usernameFragment, password: transport.remoteCredentials.password)
    else {
      throw NegotiationFailure(
        kind: .malformed, sentence: "The description's ice-ufrag or ice-pwd is too short or has characters it must not."
      )
    }
    ice.setRole(transport.isControlling ? .controlling : .controlled)
    ice.setRemote(credentials: credentials, isLite: transport.remoteIsLite, now: now)
    for candidate in transport.remoteCandidates {
      if let usable = IceCandidate(candidate) { ice.addRemoteCandidate(usable, now: now) }
    }
    timers[.ice] = ice.nextDeadline ?? .distantFuture
    if dtls == nil { try makeDtls(transport, now: now) }
    for media in session.media where media.kind == .video { apply(media) }
    for media in session.media where media.kind == .audio { applyAudio(media) }
  }

  private mutating func makeDtls(_ transport: NegotiatedTransport, now: Timestamp) throws(NegotiationFailure) {
    let fingerprints = transport.remoteFingerprints.filter(\.isSHA256).compactMap { DtlsFingerprint(sha256: $0.bytes) }
    do throws(OpenSSLError) {
      dtls = try DtlsTransport(
        role: transport.dtlsRole == .server ? .server : .client, certificate: configuration.certificate,
        expectedFingerprints: fingerprints)
    } catch {
      throw NegotiationFailure(kind: .unsupported, sentence: "No DTLS association could be made: \(error).")
    }
    timers.advance(.connect, to: now + configuration.connectTimeout)
  }

  private mutating func apply(_ media: NegotiatedMedia) {
    if media.sendCodec != nil, sender == nil {
      sender = VideoSendStream(
        identity: sendIdentity, format: SendStreamFormat(media))
      sentPackets = media.sendCodecs.contains { $0.rtxPayloadType == nil } ? ProtectedPackets() : nil
    }
    if let agreement = VideoAgreement(media) { video = agreement }
  }

  // MARK: - End

  private mutating func close(now: Timestamp, into outbox: inout Outbox) {
    closeDataChannels(now, into: &outbox)
    sendGoodbye(into: &outbox)
    if let route = ice.selectedRoute { dtls?.close(route: route, into: &outbox.datagrams) }
    negotiation.close()
    end(.closedLocally, into: &outbox)
  }

  // MARK: - What we bring

  static func makeNegotiation(
    _ configuration: PeerConfiguration, _ identity: SendStreamIdentity, sessionID: UInt64, candidates: [IceCandidate]
  ) -> Negotiation {
    var negotiation = Negotiation(
      sessionID: sessionID, cname: identity.cname,
      transport: LocalTransport(
        credentials: ICECredentials(
          usernameFragment: configuration.iceCredentials.usernameFragment,
          password: configuration.iceCredentials.password),
        fingerprint: configuration.certificate.fingerprint.bytes,
        candidates: candidates.map(CandidateDescription.init), endOfCandidates: true))
    negotiation.dataChannels = configuration.dataChannels.map {
      LocalDataChannels(maximumMessageSize: UInt64($0.maximumMessageSize))
    }
    if let media = videoTransceiver(configuration, identity) { _ = negotiation.add(media) }
    return negotiation
  }

  private static func videoTransceiver(
    _ configuration: PeerConfiguration, _ identity: SendStreamIdentity
  ) -> LocalTransceiver? {
    let direction: MediaDirection
    switch (configuration.sendsVideo != nil, configuration.receivesVideo) {
    case (true, true): direction = .sendrecv
    case (true, false): direction = .sendonly
    case (false, true): direction = .recvonly
    case (false, false): return nil
    }
    let formats =
      (configuration.sendsVideo?.codecs ?? [])
      + (configuration.receivesVideo ? configuration.receivableVideo : [])
    let extensions: [RTPHeaderExtensionURI] = [
      .mid, .absSendTime, .transportSequenceNumber, .videoContentType, .playoutDelay, .videoOrientation, .colorSpace,
    ]
    return LocalTransceiver(
      kind: .video, direction: direction, codecs: VideoPayloadFormat.capabilities(formats),
      headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) },
      track: configuration.sendsVideo.map {
        LocalTrack(streamID: $0.streamID, trackID: $0.trackID, ssrc: identity.ssrc, rtxSSRC: identity.rtxSSRC)
      })
  }

  static func makeIceAgent(
    _ configuration: PeerConfiguration, tieBreaker: UInt64, seed: UInt64, candidates: [IceCandidate]
  ) -> IceAgent {
    var options = IceConfiguration()
    // A little under RFC 7675's thirty seconds, so that a viewer that vanished is gone within them.
    options.consentLifetime = .milliseconds(25_000)
    var agent = IceAgent(
      role: .controlled, configuration: options, localCredentials: configuration.iceCredentials,
      tieBreaker: tieBreaker, seed: seed)
    agent.addLocalCandidates(candidates, now: .zero)
    return agent
  }
}

extension NegotiatedMedia {
  /// Numbers of the header extensions we know.
  var extensionMap: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    for item in headerExtensions {
      if let uri = RTPHeaderExtensionURI(rawValue: item.uri) { map[uri] = item.id }
    }
    return map
  }
}

extension IceCandidate {
  /// Nil for what cannot be used: names, TCP, other components.
  init?(_ text: CandidateDescription) {
    guard text.component == 1, case .udp = text.transport, case .ip(let ip) = text.address else { return nil }
    let kind: IceCandidateKind =
      switch text.kind {
      case .host: .host
      case .srflx: .serverReflexive
      case .prflx: .peerReflexive
      case .relay: .relayed
      }
    self.init(
      address: SocketAddress(ip: ip, port: text.port), priority: text.priority, kind: kind,
      foundation: text.foundation)
  }
}

extension CandidateDescription {
  init(_ candidate: IceCandidate) {
    self.init(
      foundation: candidate.foundation, component: 1, transport: .udp, priority: candidate.priority,
      address: .ip(candidate.address.ip), port: candidate.address.port, kind: .host)
  }
}
