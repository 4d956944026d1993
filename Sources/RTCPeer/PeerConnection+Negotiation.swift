public import RTCEngine
import RTCICE
public import RTCPrimitives
import RTCWire

extension PeerConnection {
  /// The state of offer and answer (W3C WebRTC §4.3.1).
  public var signalingState: SignalingState { slot?.peer.signalingState ?? .stable }

  // MARK: - As browsers have it

  /// Makes our description and applies it: the answer to a pending offer of the remote peer, else an offer. All our candidates
  /// are in it.
  /// - Throws: `NegotiationFailure`; nothing has changed then.
  public func setLocalDescription() throws -> Description {
    try localDescription(after: .setLocalDescription(Self.freshCredentials()))
  }

  /// Applies the remote peer's description. An offer gets its transceivers at once and is then pending; while an offer
  /// of ours is pending, use `rollback` first.
  /// - Throws: `NegotiationFailure`; nothing has changed then.
  public func setRemoteDescription(_ description: Description) throws {
    try perform(.setRemoteDescription(description))
  }

  /// Drops the pending offer, ours or the remote peer's.
  /// - Throws: `NegotiationFailure` when there is none.
  public func rollback() throws { try perform(.rollback) }

  /// The next offer restarts ICE: a new path is looked for while the old one carries on.
  public func restartICE() { _ = try? perform(.restartICE(Self.freshCredentials())) }

  /// Takes a candidate of the remote peer, or keeps it until its description is there.
  /// - Throws: `NegotiationFailure` when it cannot be read.
  public func addRemoteCandidate(_ candidate: ICECandidateInit) throws { try perform(.addRemoteCandidate(candidate)) }

  /// Until `commitConfiguration`, changes are gathered and `.negotiationNeeded` is held back.
  public func startConfiguration() { _ = try? perform(.startConfiguration) }

  /// Ends the batch of `startConfiguration`; all its changes cause one `.negotiationNeeded`.
  public func commitConfiguration() { _ = try? perform(.commitConfiguration) }

  // MARK: - One exchange, as WHIP and WHEP have it

  /// Makes an offer, with all our candidates in it.
  public func createOffer() throws -> String { try localDescription(after: .createOffer).sdp }

  /// Answers a remote offer, with all our candidates in it. Media that no transceiver of ours waits for is turned off.
  public func answer(to offer: String) throws -> String { try localDescription(after: .acceptOffer(offer)).sdp }

  /// Applies the answer to our offer.
  public func accept(answer: String) throws { try perform(.acceptAnswer(answer)) }

  /// Adds remote candidates that came later, as an RFC 8840 fragment.
  public func addRemoteCandidates(_ fragment: String) throws { try perform(.addRemoteCandidates(fragment)) }

  /// Applies a client's fragment (RFC 8840): candidates or, with new credentials, an ICE restart (RFC 9725 §4.3.3).
  /// - Returns: our fragment if ICE restarted.
  /// - Throws: `NegotiationFailure`; nothing has changed then.
  package func apply(fragment: String) throws -> String? {
    if case .fragment(let ours) = try perform(.applyFragment(fragment, Self.freshCredentials())) { ours } else { nil }
  }

  /// Begins an ICE restart; the present path stays in use. Another call begins another restart.
  /// - Returns: our fragment for the server.
  package func restartFragment() throws -> String { try fragment(after: .restartFragment(Self.freshCredentials())) }

  /// Applies the server's fragment, the answer to ours: the restart is agreed.
  package func accept(fragment: String) throws { try perform(.acceptFragment(fragment)) }

  /// All candidates so far, as a fragment.
  package func localFragment() throws -> String { try fragment(after: .localFragment) }

  private func fragment(after command: Command) throws -> String {
    if case .fragment(let fragment) = try perform(command) { return fragment }
    throw APIMisuse("This connection has ended; make a new one.")
  }

  // MARK: - On the loop

  private func localDescription(after command: Command) throws -> Description {
    if case .description(let description) = try perform(command) { return description }
    throw APIMisuse("This connection has ended; make a new one.")
  }

  private static func freshCredentials() -> ICECredentials {
    var random = SystemRandomNumberGenerator()
    return ICECredentials(using: &random)
  }

  // MARK: - Perfect negotiation

  /// From now on offers and answers are made here, in one step each, so that nothing comes between.
  func setNegotiator(_ new: Negotiator) {
    negotiator?.end()
    negotiator = new
    _ = try? makeSlot()
    offerSoon()
  }

  func removeNegotiator(_ old: Negotiator) {
    guard negotiator === old else { return }
    negotiator?.end()
    negotiator = nil
  }

  /// Applies a description of the remote peer, and answers it or lets it pass.
  func negotiate(_ description: Description, _ negotiator: Negotiator) throws {
    let result = try perform(.negotiate(description, negotiator.politeness, Self.freshCredentials()))
    if case .description(let answer) = result { negotiator.send(answer) }
  }

  /// Offers when the calls that are under way have changed all they want to.
  func offerSoon() {
    guard negotiator != nil else { return }
    loop.events.post { [weak self] in self?.assumeIsolated { $0.offerIfNeeded() } }
  }

  private func offerIfNeeded() {
    guard let negotiator, let slot, slot.peer.needsNegotiation, let offer = try? setLocalDescription() else { return }
    negotiator.send(offer)
  }
}
