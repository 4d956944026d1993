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
    guard local.kind == .host || local.kind == .relayed, here.isV4 == there.isV4,
      here.isV4 || here.isLinkLocal == there.isLinkLocal, !here.isLoopback || there.isLoopback
    else { return }
    var target = remote.address
    if case .v6(_, _, let scope) = here, case .v6(let high, let low, _) = there, there.isLinkLocal {
      target.ip = .v6(high: high, low: low, scope: scope)
    }
    let route = Route(local: local.address, remote: target, kind: local.carrier)
    if case .full = session.checklist.insert(local: local, remote: remote, route: route, role: role) {
      statistics.count(.limitReached)
    }
  }

  /// What an authentic request teaches: the peer's address, and that a check that way is worth while (RFC 8445 §7.3.1.3–5).
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
    let key = route.key
    let local =
      localCandidates.first { $0.address.withoutScope == key.local && $0.kind == .host }
      ?? ICECandidate(
        address: route.local, priority: ICECandidate.priority(kind: .host, localPreference: 0), kind: .host,
        foundation: ICECandidate.foundation(kind: .host, base: route.local.ip))
    let remote =
      session.remoteCandidates.first { $0.address.withoutScope == key.remote }
      ?? ICECandidate(
        address: route.remote, priority: priority, kind: .peerReflexive,
        foundation: "p\(route.remote.ip.withoutScope)")
    switch session.checklist.insert(local: local, remote: remote, route: route, role: role) {
    case .added(let index), .known(let index): return index
    case .full: return nil
    }
  }

  /// The peer's request shows that its side of the way is open, so that an earlier check of ours may well have been lost at
  /// its firewall (RFC 8445 §7.3.1.4). The first time, repeats the check under way soon, as its answer may be just arriving;
  /// later requests replace it by a new one. False when no check is under way or it is to be replaced.
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

  /// When the next new check may go out; nil when there is none to send.
  var nextCheckTime: Timestamp? {
    guard session.remote != nil, session.phase != .failed,
      let index = session.checklist.nextToCheck(triggeredOnly: session.selectedPair != nil)
    else { return nil }
    guard lastCheckAt.nanoseconds != .min else { return .zero }
    let pair = session.checklist[index]
    return lastCheckAt + (pair.isBetweenHosts ? configuration.hostCheckInterval : configuration.checkInterval)
  }

  /// Sends the next check when the pace allows it (RFC 8445 §6.1.4.2).
  mutating func sendDueCheck(now: Timestamp, into batch: inout DatagramBatch) {
    guard let time = nextCheckTime, time <= now, let remote = session.remote,
      let index = session.checklist.nextToCheck(triggeredOnly: session.selectedPair != nil)
    else { return }
    session.checklist.start(index)
    lastCheckAt = now
    let pair = session.checklist[index]
    let active = Int64(session.checklist.activeCount)
    let wait =
      pair.isBetweenHosts
      ? max(configuration.initialHostRTO, configuration.hostCheckInterval * active)
      : max(configuration.initialRTO, configuration.checkInterval * active)
    let check = CheckTransaction(
      id: STUNTransactionID(using: &random), pair: pair.id, role: stunRole,
      nominates: role == .controlling && pair.nomination == .underWay, sentAt: now, wait: wait, dueAt: now + wait)
    if session.transactions.count >= Self.maximumTransactions {
      session.transactions.remove(at: session.transactions.firstIndex(where: \.isCancelled) ?? 0)
    }
    session.transactions.append(check)
    send(check, on: pair, remote: remote, into: &batch)
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
      send(check, on: session.checklist[index], remote: remote, into: &batch)
      i += 1
    }
  }

  private mutating func send(
    _ check: CheckTransaction, on pair: CandidatePair, remote: RemoteIdentity, into batch: inout DatagramBatch
  ) {
    statistics.requestsSent += 1
    let request = ICERequest(
      id: check.id, username: remote.username, role: check.role,
      priority: ICECandidate.priority(kind: .peerReflexive, localPreference: pair.local.localPreference),
      nominates: check.nominates)
    request.write(key: remote.key, route: pair.route, into: &batch)
  }

  // MARK: - Outcomes

  mutating func checkSucceeded(_ index: Int, _ check: CheckTransaction, now: Timestamp) {
    let id = check.pair
    if check.transmissions == 1 { session.checklist[index].roundTripTime = now - check.sentAt }
    session.checklist[index].heardAt = now
    session.checklist.succeed(index)
    session.cancelTransactions(of: id, sparingNomination: !check.nominates)
    if role == .controlled, session.checklist[index].nomination == .requested {
      session.checklist[index].nomination = .none
      acceptNomination(index, now: now)
    } else if role == .controlling, check.nominates {
      session.checklist[index].nomination = .none
      if session.selectedPair == nil || path?.consent.isSilent(at: now) == true { select(index, now: now) }
    } else {
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
    batch.append(to: route, capacity: ICEAgent.messageCapacity) { out in
      var writer = STUNMessageWriter(.request, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      writer.write(.username, username.span)
      writer.write(role)
      writer.write(.priority, priority)
      if nominates { writer.write(.useCandidate) }
      return writer.finish(key: key)
    }
  }
}
