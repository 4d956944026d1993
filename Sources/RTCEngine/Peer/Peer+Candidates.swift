import RTCICE
import RTCPrimitives
import RTCWire

// MARK: - Our candidates

extension Peer {
  mutating func setLocalCandidates(
    _ candidates: [ICECandidate], isComplete: Bool, now: Timestamp, into outbox: inout Outbox
  ) {
    transport.setLocalCandidates(candidates, isComplete: isComplete, now: now)
    negotiation.transport.candidates = configuration.described(candidates)
    negotiation.transport.endOfCandidates = isComplete
    guard let section = negotiation.candidateSection, let credentials = negotiation.describedCredentials else { return }
    let (new, isEnd) = announcedCandidates.update(negotiation.transport)
    for text in new.map(\.description) + (isEnd ? [""] : []) {
      outbox.events.append(
        .localCandidateGathered(
          ICECandidateInit(
            candidate: text, sdpMid: section.mid, sdpMLineIndex: section.index,
            usernameFragment: credentials.usernameFragment)))
    }
  }

  /// Reports names that the owner is to resolve.
  mutating func announceNames(into outbox: inout Outbox) {
    for name in transport.takeNamesToResolve() { outbox.events.append(.candidateNameNeedsResolving(name)) }
  }
}

// MARK: - Fragments

extension Peer {
  mutating func addRemoteCandidates(_ text: String, now: Timestamp) throws(NegotiationFailure) {
    let fragment = try Transport.fragment(text)
    guard case .candidates = try transport.effect(of: fragment) else {
      throw NegotiationFailure(
        kind: .unsupported, sentence: "An ICE restart by fragment is not possible here; open a new session.")
    }
    transport.addCandidates(of: fragment, now: now)
  }

  /// Applies a fragment as a server of WHIP or WHEP. If both sides have begun a restart, their fragments answer each other.
  mutating func applyFragment(
    _ text: String, _ fresh: ICECredentials, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    let fragment = try Transport.fragment(text)
    guard case .restart(let remote) = try transport.effect(of: fragment) else {
      transport.addCandidates(of: fragment, now: now)
      return .done
    }
    let local = transport.isAwaitingRestart ? transport.localCredentials : fresh
    try negotiation.restart(local: local, remote: remote)
    if !transport.isAwaitingRestart { transport.restart(local, now: now) }
    finishRestart(remote, fragment, now: now)
    announceUsernameFragment(local, into: &outbox)
    return try describeFragment()
  }

  /// Begins a restart as a client of WHIP or WHEP.
  mutating func restartFragment(
    _ fresh: ICECredentials, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    try negotiation.restart(local: fresh, remote: nil)
    transport.restart(fresh, now: now)
    announceUsernameFragment(fresh, into: &outbox)
    return try describeFragment()
  }

  mutating func acceptFragment(_ text: String, now: Timestamp) throws(NegotiationFailure) {
    let fragment = try Transport.fragment(text)
    switch try transport.effect(of: fragment) {
    case .candidates where transport.isAwaitingRestart:
      throw NegotiationFailure(
        kind: .malformed,
        sentence: "The answer to the ICE restart has no ice-ufrag and ice-pwd; the former session goes on.")
    case .candidates: transport.addCandidates(of: fragment, now: now)
    case .restart(let remote):
      guard transport.isAwaitingRestart else {
        throw NegotiationFailure(kind: .wrongState, sentence: "The fragment answers no ICE restart of ours.")
      }
      try negotiation.restart(local: transport.localCredentials, remote: remote)
      finishRestart(remote, fragment, now: now)
    }
  }

  private mutating func finishRestart(_ remote: ICECredentials, _ fragment: TrickleFragment, now: Timestamp) {
    let isLite = fragment.isICELite || negotiation.session?.transport.remoteIsLite == true
    transport.setRemote(remote, isLite: isLite, now: now)
    transport.addCandidates(of: fragment, now: now)
  }

  /// All candidates so far, as a fragment.
  mutating func describeFragment() throws(NegotiationFailure) -> CommandResult {
    guard let fragment = negotiation.localFragment else {
      throw NegotiationFailure(kind: .wrongState, sentence: "There is no description yet that candidates could be for.")
    }
    announcedCandidates.describe(negotiation.transport)
    return .fragment(fragment.description)
  }
}
