import RTCPrimitives
import RTCWire

/// Pairs and the checks on them.
extension ICEAgent {
  /// Room for the longest message: two fragments of 256 bytes and some fixed fields.
  static let messageCapacity = 768
  /// A request from the peer brings the next repetition of a check under way forward to this.
  private static let expeditedWait = TimeDelta.milliseconds(20)
  private static let maximumTransactions = 256

  var stunRole: STUNICERole {
    role == .controlling ? .controlling(tieBreaker: tieBreaker) : .controlled(tieBreaker: tieBreaker)
  }

  // MARK: - Pairs

  /// RFC 8445 §6.1.2.2. Reflexive local candidates are checked from their bases, which are candidates themselves.
  mutating func formPair(_ local: ICECandidate, _ remote: ICECandidate) {
    let (here, there) = (local.address.ip, remote.address.ip)
    guard isUsable(local), Self.canReach(local, remote), here.isV4 == there.isV4,
      // A private address of the peer belongs to somebody else if we have a public address only, unless the peer sent
      // from it.
      local.kind == .relayed || remote.kind == .peerReflexive || !CandidatePolicy.isPublic(here)
        || CandidatePolicy.isPublic(there),
      here.isV4 || here.isLinkLocal == there.isLinkLocal, here.isLoopback == there.isLoopback
    else { return }
    var target = remote.address
    if case .v6(_, _, let scope) = here, case .v6(let high, let low, _) = there, there.isLinkLocal {
      target.ip = .v6(high: high, low: low, scope: scope)
    }
    let route = Route(local: local.address, remote: target, kind: local.carrier)
    if case .full(isKept: false) = session.checklist.insert(local: local, remote: remote, route: route, role: role) {
      statistics.count(.limitReached)
    }
  }

  /// A base that the policy allows.
  private func isUsable(_ local: ICECandidate) -> Bool {
    local.isBase && (configuration.transportPolicy == .all || local.kind == .relayed)
  }

  /// UDP to UDP; over TCP only along the connection that is open (RFC 6544 §6.2). A passive candidate waits to be connected to.
  private static func canReach(_ local: ICECandidate, _ remote: ICECandidate) -> Bool {
    switch local.tcpType {
    case nil: remote.tcpType == nil
    case .active: remote.tcpType == .passive && remote.address == local.relatedAddress
    case .passive, .simultaneousOpen: false
    }
  }

  /// Learns from an authentic request: the peer's address, and that a check of that route is worthwhile (RFC 8445
  /// §7.3.1.3–5).
  mutating func learn(route: Route, priority: UInt32, nominates: Bool, now: Timestamp) {
    guard session.phase != .failed else { return }
    guard let index = pair(on: route, priority: priority) else { return statistics.count(.limitReached) }
    session.checklist[index].heardAt = now
    let nominates = nominates && role == .controlled
    if session.checklist[index].state == .succeeded {
      if nominates { acceptNomination(index, now: now) }
      return
    }
    if nominates { session.checklist[index].nomination = .requested }
    if session.checklist[index].state == .inProgress, expedite(pair: session.checklist[index].id, now: now) { return }
    session.checklist.trigger(index)
  }

  private mutating func pair(on route: Route, priority: UInt32) -> Int? {
    if let index = session.checklist.index(route: route) { return index }
    guard CandidatePolicy.refusal(of: route.remote, isLearned: true) == nil else { return nil }
    let remote =
      session.remoteCandidates.first { $0.address.withoutScope == route.key.remote && $0.tcpType == nil }
      ?? ICECandidate(
        address: route.remote, priority: priority, kind: .peerReflexive,
        foundation: "p\(route.remote.ip.withoutScope)")
    let insertion = session.checklist.insert(
      local: base(of: route), remote: remote, route: route, role: role, isLearned: true)
    switch insertion {
    case .added(let index), .known(let index): return index
    case .full: return nil
    }
  }

  /// Our candidate by which a datagram arrived: the relay's or passive one of its carrier, the host candidate of its
  /// address, or one that was not signaled.
  private func base(of route: Route) -> ICECandidate {
    let local = route.key.local
    let known = localCandidates.first { candidate in
      switch route.kind {
      case .udp: candidate.kind == .host && candidate.tcpType == nil && candidate.address.withoutScope == local
      case .relay: candidate.kind == .relayed && candidate.carrier == route.kind
      case .stream:
        candidate.carrier == route.kind || candidate.tcpType == .passive && candidate.address.withoutScope == local
      }
    }
    if let known { return known }
    let isRelay = if case .relay = route.kind { true } else { false }
    let kind: ICECandidateKind = isRelay ? .relayed : .host
    var new = ICECandidate(
      address: route.local, priority: ICECandidate.priority(kind: kind, localPreference: 0), kind: kind,
      foundation: ICECandidate.foundation(kind: kind, base: route.local.ip), carrier: route.kind)
    if case .stream = route.kind { new.tcpType = .passive }
    return new
  }

  // MARK: - Candidates that go

  /// These candidates of ours are gone.
  mutating func drop(_ candidates: [ICECandidate], now: Timestamp) {
    guard !candidates.isEmpty else { return }
    session.checklist.removeAll { pair in candidates.contains { $0.isSame(as: pair.local) } }
    losePath(now: now) { path in candidates.contains { $0.isBase && $0.isSame(as: path.local) } }
  }

  /// The pairs of these routes are gone.
  mutating func dropPairs(now: Timestamp, where isGone: (Route) -> Bool) {
    session.checklist.removeAll { isGone($0.route) }
    losePath(now: now) { isGone($0.route) }
  }

  /// If the path in use is gone, the best other working pair replaces it; else all pairs are tried again.
  private mutating func losePath(now: Timestamp, if isGone: (SelectedPath) -> Bool) {
    session.transactions.removeAll { session.checklist.index(id: $0.pair) == nil }
    guard let lost = path, isGone(lost) else { return }
    path = nil
    // A former session's path: the present one is looking for its own.
    guard session.selectedPair != nil else { return }
    if let best = session.checklist.bestValid {
      select(best, now: now)
    } else {
      session.phase = .checking(since: now)
      session.selectionLostAt = now
      session.checklist.doubt(except: nil)
    }
  }

  /// The peer's request shows that its side of the path is open, so an earlier check of ours may have been dropped by
  /// its firewall (RFC 8445 §7.3.1.4). The first time, repeats the pending check soon, as its answer may be arriving;
  /// later requests replace it by a new one. False if no check is pending or it is to be replaced.
  private mutating func expedite(pair: Int, now: Timestamp) -> Bool {
    guard let i = session.transactions.lastIndex(where: { $0.pair == pair && !$0.isCancelled }) else { return false }
    let check = session.transactions[i]
    if !check.isExpedited {
      session.transactions[i].isExpedited = true
      session.transactions[i].dueAt = min(check.dueAt, now + Self.expeditedWait)
    } else if now - check.sentAt >= configuration.initialRTO {
      session.cancelTransactions(of: pair)
      return false
    }
    return true
  }

  // MARK: - Sending

  /// Once a pair is selected and answers, only better ones are still tried.
  private var floor: UInt64? {
    guard state != .disconnected, let id = session.selectedPair, let index = session.checklist.index(id: id) else {
      return nil
    }
    return session.checklist[index].priority
  }

  /// When the next new check may go out; nil when there is none to send.
  var nextCheckTime: Timestamp? {
    guard session.remote != nil, session.phase != .failed, let choice = session.checklist.nextToCheck(above: floor)
    else { return nil }
    guard lastCheckAt.nanoseconds != .min else { return .zero }
    return lastCheckAt
      + (session.checklist.isBetweenHosts(choice) ? configuration.hostCheckInterval : configuration.checkInterval)
  }

  /// Sends the next check when the pace allows it (RFC 8445 §6.1.4.2).
  mutating func sendDueCheck(now: Timestamp, into batch: inout DatagramBatch) {
    // Finding the next check takes time, and this is the minimum interval of checks.
    let isPaced = lastCheckAt.nanoseconds != .min && now - lastCheckAt < configuration.hostCheckInterval
    guard !isPaced, let time = nextCheckTime, time <= now, let remote = session.remote else { return }
    lastCheckAt = now
    guard let index = takeNextCheck() else { return }
    session.checklist.start(index, now: now)
    let pair = session.checklist[index]
    let active = Int64(session.checklist.activeCount)
    let wait =
      pair.isBetweenHosts
      ? max(configuration.initialHostRTO, configuration.hostCheckInterval * active)
      : max(configuration.initialRTO, configuration.checkInterval * active)
    let check = CheckTransaction(
      id: STUNTransactionID(high: transactionTag, low: random.next()), pair: pair.id, role: stunRole,
      nominates: role == .controlling && pair.nomination == .underWay, sentAt: now, wait: wait, dueAt: now + wait)
    if session.transactions.count >= Self.maximumTransactions {
      session.transactions.remove(at: session.transactions.firstIndex(where: \.isCancelled) ?? 0)
    }
    session.transactions.append(check)
    send(check, on: index, remote: remote, now: now, into: &batch)
  }

  private mutating func takeNextCheck() -> Int? {
    switch session.checklist.nextToCheck(above: floor) {
    case .pair(let index): return index
    case .reserved(let index): return session.checklist.admit(index)
    case nil: return nil
    }
  }

  /// Repeats checks whose answers are late and gives up those sent often enough (RFC 8489 §6.2.1).
  mutating func repeatDueChecks(now: Timestamp, into batch: inout DatagramBatch) {
    guard let remote = session.remote else { return }
    var i = 0
    while i < session.transactions.count {
      let check = session.transactions[i]
      guard check.dueAt <= now else {
        i += 1
        continue
      }
      guard let index = session.checklist.index(id: check.pair), !check.isCancelled else {
        session.transactions.remove(at: i)
        continue
      }
      guard check.transmissions < configuration.maximumTransmissions else {
        session.transactions.remove(at: i)
        checkFailed(index, now: now)
        continue
      }
      session.transactions[i].advance(configuration, now: now)
      statistics.retransmissions += 1
      send(check, on: index, remote: remote, now: now, into: &batch)
      i += 1
    }
  }

  /// An address that has never answered is sent so many requests and no more, however many ports somebody says it has.
  private mutating func send(
    _ check: CheckTransaction, on index: Int, remote: RemoteIdentity, now: Timestamp, into batch: inout DatagramBatch
  ) {
    let pair = session.checklist[index]
    guard session.mayAsk(pair.route.remote.ip, limit: configuration.maximumUnansweredRequests) else {
      statistics.count(.limitReached)
      return checkFailed(index, now: now)
    }
    session.checklist[index].requestsSent += 1
    statistics.requestsSent += 1
    let request = ICERequest(
      id: check.id, username: remote.username, role: check.role,
      priority: ICECandidate.priority(kind: .peerReflexive, localPreference: pair.local.localPreference),
      nominates: check.nominates)
    request.write(key: remote.key, route: pair.route, into: &batch)
  }

  // MARK: - Outcomes

  mutating func checkSucceeded(
    _ index: Int, _ check: CheckTransaction, now: Timestamp, events: inout [ICEEvent]
  ) {
    let id = check.pair
    if check.transmissions == 1 { session.checklist[index].roundTripTime = now - check.sentAt }
    session.checklist[index].heardAt = now
    let isNew = session.checklist[index].responsesReceived == 0
    if isNew { events.append(.routeProved(session.checklist[index].route)) }
    session.checklist.succeed(index)
    session.answered(session.checklist[index].route.remote.ip)
    session.cancelTransactions(of: id, sparingNomination: !check.nominates)
    if role == .controlled, session.checklist[index].nomination == .requested {
      session.checklist[index].nomination = .none
      acceptNomination(index, now: now)
    } else if role == .controlling, check.nominates {
      let isWanted = session.checklist[index].nomination == .underWay
      session.checklist[index].nomination = .none
      if isWanted || session.selectedPair == nil { select(index, now: now) }
    } else {
      if isNew { doubtSelected(now: now) }
      evaluateNomination(now: now)
    }
  }

  mutating func checkFailed(_ index: Int, now: Timestamp) {
    guard session.checklist[index].id != session.selectedPair else { return }
    session.cancelTransactions(of: session.checklist[index].id)
    session.checklist.fail(index)
    evaluateNomination(now: now)
  }
}

/// A Binding request of ICE (RFC 8445 §7.1), for checks and for consent.
struct ICERequest {
  let id: STUNTransactionID
  let username: [UInt8]
  let role: STUNICERole
  let priority: UInt32
  let nominates: Bool

  func write(key: STUNIntegrityKey, route: Route, into batch: inout DatagramBatch) {
    batch.append(to: route, capacity: ICEAgent.messageCapacity, content: .check) { out in
      var writer = STUNMessageWriter(.request, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      writer.write(.username, username.span)
      writer.write(role)
      writer.write(.priority, priority)
      if nominates { writer.write(.useCandidate) }
      return writer.finish(key: key)
    }
  }
}
