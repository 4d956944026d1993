import RTCDTLS
import RTCICE
import RTCPrimitives
import RTCWire

extension Peer {
  // MARK: - Descriptions, as browsers have them

  mutating func setLocalDescription(
    _ credentials: ICECredentials, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    switch negotiation.signalingState {
    case .haveRemoteOffer: try answerPendingOffer(credentials, now: now, into: &outbox)
    case .stable, .haveLocalOffer, .closed: try createOffer(now: now, into: &outbox)
    }
  }

  mutating func setRemoteDescription(
    _ description: Description, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    switch description.kind {
    case .offer: try takeOffer(Peer.parse(description.sdp))
    case .answer: try acceptAnswer(description.sdp, now: now, into: &outbox)
    }
  }

  mutating func negotiate(
    _ description: Description, _ politeness: Politeness, _ credentials: ICECredentials, now: Timestamp,
    into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    guard case .offer = description.kind else {
      return try acceptAnswer(description.sdp, now: now, into: &outbox)
    }
    if negotiation.signalingState == .haveLocalOffer {
      guard case .polite = politeness else {
        outbox.events.append(.offerIgnored)
        return
      }
      try Peer.translating { () throws(NegotiationError) in try negotiation.rollback() }
      early?.discard()
      notice.reset()
    }
    try takeOffer(Peer.parse(description.sdp))
    try answerPendingOffer(credentials, now: now, into: &outbox)
  }

  /// Takes an offer that is to be answered later; its m-sections get transceivers.
  private mutating func takeOffer(_ offer: SessionDescription) throws(NegotiationFailure) {
    let templates = [Peer.videoTemplate(configuration), Peer.audioTemplate(configuration)]
    try Peer.translating { () throws(NegotiationError) in try negotiation.setRemoteOffer(offer, making: templates) }
    matchTransceivers()
    avoidSources(of: offer)
  }

  private mutating func answerPendingOffer(
    _ credentials: ICECredentials, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    if negotiation.remoteRestartsICE,
      negotiation.transport.credentials == negotiation.session?.transport.localCredentials
    {
      negotiation.transport.credentials = credentials
    }
    let answer = try Peer.translating { () throws(NegotiationError) in try negotiation.createAnswer() }
    try takeAnswer(answer, now: now, into: &outbox)
  }

  private mutating func takeAnswer(
    _ answer: SessionDescription, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    if let session = negotiation.session { try apply(session, now: now, into: &outbox) }
    outbox.events.append(.localDescription(Description(kind: .answer, sdp: answer.description)))
    change(to: state == .new ? .connecting : state, into: &outbox)
  }

  // MARK: - One exchange

  mutating func createOffer(now: Timestamp, into outbox: inout Outbox) throws(NegotiationFailure) {
    let offer = try Peer.translating { () throws(NegotiationError) in try negotiation.createOffer() }
    // Checks of the far side may overtake its answer, and must find us in the role that the answer gives us.
    if negotiation.session == nil { ice.setRole(.controlling) }
    if state == .new { timers.advance(.connect, to: now + configuration.connectTimeout) }
    tellUsernameFragment(negotiation.transport.credentials, into: &outbox)
    outbox.events.append(.localDescription(Description(kind: .offer, sdp: offer.description)))
  }

  mutating func acceptOffer(
    _ text: String, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let offer = try Peer.parse(text)
    try Peer.translating { () throws(NegotiationError) in try negotiation.setRemoteOffer(offer) }
    avoidSources(of: offer)
    let answer = try Peer.translating { () throws(NegotiationError) in try negotiation.createAnswer() }
    try takeAnswer(answer, now: now, into: &outbox)
  }

  mutating func acceptAnswer(
    _ text: String, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let answer = try Peer.parse(text)
    let session = try Peer.translating { () throws(NegotiationError) in try negotiation.setRemoteAnswer(answer) }
    try apply(session, now: now, into: &outbox)
    change(to: state == .new ? .connecting : state, into: &outbox)
  }

  // MARK: - Reading

  static func parse(_ text: String) throws(NegotiationFailure) -> SessionDescription {
    do throws(SDPError) {
      return try SessionDescription(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The description cannot be read: \(error).")
    }
  }

  /// Runs `body` and says what went wrong in a sentence for whoever made the description.
  static func translating<Result>(
    _ body: () throws(NegotiationError) -> Result
  ) throws(NegotiationFailure) -> Result {
    do throws(NegotiationError) {
      return try body()
    } catch {
      let kind: NegotiationFailure.Kind =
        switch error {
        case .misuse: .wrongState
        case .nothingAccepted, .peer(.noCommonCodec, _): .noCommonCodec
        case .peer(.missingRTCPMux, _), .peer(.notBundled, _), .peer(.unsupportedFingerprint, _),
          .peer(.fingerprintChanged, _):
          .unsupported
        case .peer: .malformed
        }
      throw NegotiationFailure(kind: kind, sentence: "The description cannot be used: \(error).")
    }
  }

  // MARK: - What we bring

  static func makeNegotiation(
    _ configuration: PeerConfiguration, cname: String, sessionID: UInt64, candidates: [ICECandidate]
  ) -> Negotiation {
    var negotiation = Negotiation(
      sessionID: sessionID, cname: cname,
      transport: LocalTransport(
        credentials: configuration.iceCredentials,
        fingerprint: configuration.certificate.fingerprint.bytes,
        candidates: candidates.map(CandidateDescription.init), endOfCandidates: true))
    negotiation.dataChannels = configuration.dataChannels.map {
      LocalDataChannels(maximumMessageSize: UInt64($0.maximumMessageSize))
    }
    return negotiation
  }

  static func makeICEAgent(
    _ configuration: PeerConfiguration, tieBreaker: UInt64, seed: UInt64, candidates: [ICECandidate]
  ) -> ICEAgent {
    var options = ICEConfiguration()
    // A little under RFC 7675's thirty seconds, so that a viewer that vanished is gone within them.
    options.consentLifetime = .milliseconds(25_000)
    var agent = ICEAgent(
      role: .controlled, configuration: options, localCredentials: configuration.iceCredentials,
      tieBreaker: tieBreaker, seed: seed)
    agent.addLocalCandidates(candidates, now: .zero)
    return agent
  }
}
