package import RTCPrimitives
package import RTCWire

/// A full ICE agent for one component (RFC 8445, trickle RFC 8838, consent RFC 7675) without sockets and clocks.
///
/// The owner hands in candidates, descriptions, STUN datagrams and the time; the agent writes datagrams into a batch and
/// appends events. After every call `nextDeadline` says when `deadlineReached` must be called; it may say "now". Media
/// does not pass through here: send it along `selectedRoute`. Owned by one thread.
package struct ICEAgent: ~Copyable {
  /// Whether this agent nominates; role conflicts are resolved automatically.
  package internal(set) var role: ICERole
  /// How the agent stands, as the last `stateChanged` said; `new` at first.
  package internal(set) var state: ICEState = .new
  /// The route of media: the nominated pair's or, before a nomination, the best valid pair's. Nil if none works.
  package internal(set) var selectedRoute: Route?
  /// The candidates of this side, in the order they were added; a restart keeps them.
  package internal(set) var localCandidates: [ICECandidate] = []
  var localGathering = ICEGathering.complete
  /// Counters since the agent was made; a restart does not reset them.
  package internal(set) var statistics = ICEStatistics()

  let configuration: ICEConfiguration
  /// The first 32 bits of all our transactions, which distinguish answers from those for other agents of one port; the
  /// other 64 are random.
  package var transactionTag: UInt32
  var tieBreaker: UInt64
  var random: SeededGenerator
  var session: ICESession
  var path: SelectedPath?
  /// The latest credentials before the restart that the peer has used: it may check the old path until it has a new one.
  var former: LocalIdentity?
  /// The peer's credentials before the restart.
  package internal(set) var formerRemoteCredentials: ICECredentials?
  /// The peer was known once: the roles are settled between us, and a restart keeps them (RFC 8445 §9).
  var isRoleSettled = false
  var lastCheckAt = Timestamp(nanoseconds: .min)
  var deadlines = ICEDeadlines()
  /// Requests that were looked at.
  var requests = PeerLimits.Account()
  /// Requests whose integrity was verified.
  var verifications = PeerLimits.Account()
  /// Requests that were refused with an error.
  var refusals = PeerLimits.Account()

  /// - Parameters:
  ///   - role: controlling for the side that made the first offer (RFC 8445 §6.1.1).
  ///   - tieBreaker: 64 random bits.
  ///   - seed: for transaction ids and the spread of consent checks; random in production.
  package init(
    role: ICERole, configuration: ICEConfiguration = ICEConfiguration(), localCredentials: ICECredentials,
    tieBreaker: UInt64, seed: UInt64
  ) {
    self.role = role
    self.configuration = configuration
    self.tieBreaker = tieBreaker
    random = SeededGenerator(seed: seed)
    transactionTag = UInt32(truncatingIfNeeded: random.next())
    session = ICESession(local: LocalIdentity(localCredentials), configuration: configuration)
  }

  // MARK: - Descriptions and candidates

  /// Takes the role the description exchange gives, as after a rollback. Ignored once the peer's credentials are known, and
  /// in restarts.
  package mutating func setRole(_ role: ICERole) {
    guard !isRoleSettled, role != self.role else { return }
    self.role = role
    session.checklist.reprioritize(role: role)
  }

  /// Adds candidates of this agent, at any time; known addresses are ignored.
  package mutating func addLocalCandidates(_ candidates: [ICECandidate], now: Timestamp) {
    for candidate in candidates where !localCandidates.contains(where: { $0.isSame(as: candidate) }) {
      localCandidates.append(candidate)
      for remote in session.remoteCandidates { formPair(candidate, remote) }
    }
    rearm(now: now)
  }

  /// Replaces the candidates of this agent. New ones are paired and checked, even while another pair is selected.
  /// Removed ones take their pairs with them; if the selected pair is among these, the best other working pair replaces
  /// it at once, and a check notifies the peer.
  /// - Parameter isComplete: gathering has ended, so that checking may fail when nothing is left to check.
  package mutating func setLocalCandidates(_ candidates: [ICECandidate], isComplete: Bool, now: Timestamp) {
    localGathering = isComplete ? .complete : .underWay
    let gone = localCandidates.filter { old in !candidates.contains { $0.isSame(as: old) } }
    localCandidates = localCandidates.compactMap { old in candidates.first { $0.isSame(as: old) } }
    drop(gone, now: now)
    addLocalCandidates(candidates, now: now)
  }

  /// The system refuses to send this way, or what carries it is gone: a connection of ICE-TCP was closed. The way counts as
  /// silent at once, and others are tried; a check that was under way has failed.
  package mutating func refuse(_ route: Route, now: Timestamp) {
    if case .stream = route.kind { dropPairs(now: now) { $0.kind == route.kind } }
    if path?.route.key == route.key {
      path?.consent.refused(now: now)
    } else if let index = session.checklist.index(route: route), session.checklist[index].state == .inProgress {
      checkFailed(index, now: now)
    }
    rearm(now: now)
  }

  /// The credentials from the peer's description: checks begin. The same again changes nothing; others without a
  /// `restart` before are taken as the peer's restart with our credentials kept.
  /// - Parameter isLite: the peer is an ice-lite agent, so that this one controls (RFC 8445 §6.1.1).
  package mutating func setRemote(credentials: ICECredentials, isLite: Bool = false, now: Timestamp) {
    if let remote = session.remote {
      guard remote.credentials != credentials else { return }
      begin(ICESession(local: session.local, configuration: configuration))
    }
    if isLite, role != .controlling {
      role = .controlling
      session.checklist.reprioritize(role: role)
    }
    let remote = RemoteIdentity(credentials, local: session.local)
    session.remote = remote
    isRoleSettled = true
    session.phase = .checking(since: now)
    let early = session.earlyChecks
    session.earlyChecks = []
    for check in early {
      guard check.fragment == remote.fragment else {
        statistics.count(.unknownUsername)
        continue
      }
      learn(route: check.route, priority: check.priority, nominates: check.nominates, now: now)
    }
    rearm(now: now)
  }

  /// A candidate of the peer, from its description or trickled, before or after `setRemote`.
  /// - Parameter usernameFragment: the session it is for, when signalling says so (RFC 8839 §5.4); others are dropped.
  package mutating func addRemoteCandidate(
    _ candidate: ICECandidate, usernameFragment: String? = nil, now: Timestamp
  ) {
    if let usernameFragment {
      let current = session.remote?.credentials.usernameFragment
      let isFormer = current == nil && formerRemoteCredentials?.usernameFragment == usernameFragment
      if isFormer || current != nil && current != usernameFragment { return statistics.count(.unusableCandidate) }
    }
    // An active candidate has no port that we could connect to (RFC 6544 §4.5).
    if candidate.tcpType == .active { return }
    guard CandidatePolicy.refusal(of: candidate.address) == nil else { return statistics.count(.unusableCandidate) }
    guard session.phase != .failed, !session.remoteCandidates.contains(where: { $0.isSame(as: candidate) })
    else { return }
    guard hasRoom(for: candidate) else { return statistics.count(.limitReached) }
    session.remoteCandidates.append(candidate)
    for local in localCandidates { formPair(local, candidate) }
    rearm(now: now)
  }

  /// If all places are taken, candidates whose pairs have all failed are replaced.
  private mutating func hasRoom(for candidate: ICECandidate) -> Bool {
    if session.remoteCandidates.count >= configuration.maximumRemoteCandidates { session.forgetFailedCandidates() }
    let sameAddress = session.remoteCandidates.count { $0.address.ip == candidate.address.ip }
    return session.remoteCandidates.count < configuration.maximumRemoteCandidates
      && sameAddress < configuration.maximumCandidatesOfOneAddress
  }

  /// The peer has no more candidates for this session (RFC 8838 §14). The agent that made the offer, whose candidates
  /// the peer has had since, then gives up soon when nothing is left to check; the other one still waits, as its answer
  /// may be exchanged by hand.
  package mutating func endRemoteCandidates(now: Timestamp) {
    session.remoteGathering = .complete
    rearm(now: now)
  }

  /// Begins an ICE restart (RFC 8445 §9): new credentials here, and soon `setRemote` with the peer's new ones. The route in
  /// use stays in use, with its consent watched, until the new session has nominated a pair.
  package mutating func restart(localCredentials: ICECredentials, now: Timestamp) {
    statistics.restarts += 1
    begin(ICESession(local: LocalIdentity(localCredentials), configuration: configuration))
    rearm(now: now)
  }

  // MARK: - Network and time

  /// Takes a datagram whose first byte is that of STUN (0…3).
  package mutating func receive(
    _ datagram: Span<UInt8>, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [ICEEvent]
  ) {
    if let message = try? STUNMessage(parsing: datagram) {
      receive(message, route: route, now: now, into: &batch, events: &events)
    } else {
      statistics.count(.malformed)
      sendDueCheck(now: now, into: &batch)
      settle(now: now, events: &events)
    }
  }

  /// Takes a STUN message that was parsed already, to find the agent it is for; see `ICEDemultiplexer`.
  package mutating func receive(
    _ message: STUNMessage, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [ICEEvent]
  ) {
    handle(message, route: route, now: now, into: &batch, events: &events)
    sendDueCheck(now: now, into: &batch)
    settle(now: now, events: &events)
  }

  /// Performs everything that is due at `now`; without effect if nothing is.
  package mutating func deadlineReached(now: Timestamp, into batch: inout DatagramBatch, events: inout [ICEEvent]) {
    repeatDueChecks(now: now, into: &batch)
    evaluateNomination(now: now)
    watchConsent(now: now, into: &batch)
    sendDueCheck(now: now, into: &batch)
    settle(now: now, events: &events)
  }

  /// Reports authenticated traffic (such as an SRTCP report), at most a few times a second: on the selected route it
  /// keeps the state from becoming `disconnected`. Consent is separate and needs answers to its own checks (RFC 7675
  /// §5.1).
  /// - Parameter route: the route of the traffic; nil: the selected one. If it is another, the peer may have moved
  ///   there.
  package mutating func noteAuthenticatedTraffic(at time: Timestamp, on route: Route? = nil) {
    if let route, let selected = path?.route, route.key != selected.key {
      follow(route, now: time)
      rearm(now: time)
    } else {
      path?.consent.heard(at: time)
    }
    if state == .disconnected { deadlines[.report] = time }
  }

  /// When `deadlineReached` must be called next; nil: not at all.
  package var nextDeadline: Timestamp? { deadlines.next?.time }

  // MARK: - Reading

  /// The credentials of this side's current session; a restart replaces them.
  package var localCredentials: ICECredentials { session.local.credentials }
  /// The remote peer's credentials of the current session; nil until `setRemote`, and again after a restart.
  package var remoteCredentials: ICECredentials? { session.remote?.credentials }

  /// The round-trip time of the selected route, smoothed; nil before the first measurement.
  package var roundTripTime: TimeDelta? { path?.consent.roundTripTime }

  /// The candidates of the nominated pair of this session.
  package var selectedPair: (local: ICECandidate, remote: ICECandidate)? {
    guard let id = session.selectedPair, let index = session.checklist.index(id: id) else { return nil }
    return (session.checklist[index].local, session.checklist[index].remote)
  }

  /// The number of candidate pairs in the checklist, for tests.
  package var pairCount: Int { session.checklist.pairs.count }

  /// The number of pairs of each sort in this session.
  package var pairCounts: [CandidatePairKind: Int] { session.checklist.counts }

  /// The candidates of the remote peer in this session, as signaled.
  package var remoteCandidates: [ICECandidate] { session.remoteCandidates }

  /// True after a `restart` until the peer's new credentials are there.
  package var isAwaitingRestart: Bool { session.remote == nil && formerRemoteCredentials != nil }
}

// MARK: - Settling

extension ICEAgent {
  private mutating func begin(_ new: ICESession) {
    if let remote = session.remote {
      formerRemoteCredentials = remote.credentials
      // Credentials of a restart that the peer never answered are unknown to it.
      if new.local.fragment != session.local.fragment { former = session.local }
    }
    session = new
  }

  /// Updates state, route and deadlines after a step and reports changes.
  mutating func settle(now: Timestamp, events: inout [ICEEvent]) {
    if let end = checkingEnd, now >= end { session.phase = .failed }
    let route = path?.route ?? validRoute
    if route != selectedRoute {
      selectedRoute = route
      if let route { events.append(.selectedRouteChanged(route)) }
    }
    let newState = stateNow(now)
    if newState != state {
      if newState == .disconnected { tryOthers() }
      state = newState
      events.append(.stateChanged(newState))
    }
    rearm(now: now)
  }

  /// The time at which checking is given up; nil while pairs are being checked. A working pair that the peer never
  /// nominates is given up if nothing was heard on it for the lifetime of a consent; otherwise media would go there for
  /// ever (RFC 7675 §5.1).
  private var checkingEnd: Timestamp? {
    guard case .checking(let since) = session.phase else { return nil }
    if let lostAt = session.selectionLostAt { return lostAt + configuration.consentLifetime }
    guard session.checklist.isExhausted else { return nil }
    let end = since + patience
    return session.checklist.lastHeardOnValid.map { max(end, $0 + configuration.consentLifetime) } ?? end
  }

  private var patience: TimeDelta {
    switch (role, session.remoteGathering, localGathering) {
    case (.controlling, .complete, .complete): configuration.completePatience
    default: configuration.patience
    }
  }

  private var validRoute: Route? {
    guard session.phase != .failed, let index = session.checklist.bestValid else { return nil }
    return session.checklist[index].route
  }

  private func stateNow(_ now: Timestamp) -> ICEState {
    if let path { return path.consent.isSilent(at: now) ? .disconnected : .connected }
    switch session.phase {
    case .awaitingRemote: return .new
    case .checking where session.selectionLostAt != nil: return .disconnected
    case .checking, .completed: return .checking
    case .failed: return .failed
    }
  }

  mutating func rearm(now: Timestamp) {
    deadlines[.check] = nextCheckTime ?? .distantFuture
    deadlines[.retransmission] = session.transactions.reduce(.distantFuture) { min($0, $1.dueAt) }
    deadlines[.nomination] = session.nominationAt ?? .distantFuture
    deadlines[.consent] = path?.consent.deadline ?? .distantFuture
    deadlines[.report] = stateNow(now) == state ? .distantFuture : now
    deadlines[.patience] = .distantFuture
    if case .checking(let since) = session.phase {
      if let end = checkingEnd {
        deadlines[.patience] = max(end, now)
      } else if since + configuration.patience > now {
        deadlines[.patience] = since + configuration.patience
      }
    }
  }
}
