import RTCPrimitives
import RTCWire

/// Requests and responses from the peer.
extension ICEAgent {
  mutating func handle(
    _ message: STUNMessage, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [ICEEvent]
  ) {
    guard message.header.method == .binding else { return statistics.count(.unexpectedMethod) }
    guard message.hasValidFingerprint else { return statistics.count(.badFingerprint) }
    switch message.header.class {
    case .request: handleRequest(message, route: route, now: now, into: &batch, events: &events)
    case .success, .error: handleResponse(message, route: route, now: now, events: &events)
    case .indication: break  // A keepalive (RFC 8445 §11): nothing to do.
    }
  }

  // MARK: - Requests

  /// RFC 8445 §7.3 and RFC 8489 §9.1.3.
  private mutating func handleRequest(
    _ request: STUNMessage, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [ICEEvent]
  ) {
    statistics.requestsReceived += 1
    // With the relay policy, nothing is sent on other routes, not even an error.
    if configuration.transportPolicy == .relay {
      guard case .relay = route.kind else { return statistics.count(.forbiddenRoute) }
    }
    guard request.hasMessageIntegrity, let receiver = request.receiverFragment, let sender = request.senderFragment
    else {
      return refuseForged(request, .badRequest, .incompleteRequest, route: route, now: now, into: &batch)
    }
    let isCurrent = equalInConstantTime(receiver, session.local.fragment.span)
    guard let identity = isCurrent ? session.local : formerIdentity(receiver) else {
      return statistics.count(.unknownUsername)
    }
    guard verifications.mayTake(PeerLimits.checksVerified, now: now) else { return statistics.count(.limitReached) }
    guard request.isAuthentic(key: identity.key) else {
      return refuseForged(request, .unauthenticated, .badIntegrity, route: route, now: now, into: &batch)
    }
    guard requests.mayTake(PeerLimits.checksReceived, now: now) else { return statistics.count(.limitReached) }
    guard request.unknownRequiredAttributes.isEmpty else {
      return refuse(request, .unknownAttribute, .unknownAttribute, key: identity.key, route: route, into: &batch)
    }
    guard let priority = request.priority else {
      return refuse(request, .badRequest, .incompleteRequest, key: identity.key, route: route, into: &batch)
    }
    if isCurrent {
      if let remote = session.remote, !equalInConstantTime(sender, remote.fragment.span) {
        return statistics.count(.unknownUsername)
      }
      guard settleRoles(request.iceRole, now: now, events: &events) else {
        return refuse(request, .roleConflict, nil, key: identity.key, route: route, into: &batch)
      }
    }
    answer(request, key: identity.key, route: route, into: &batch)
    if path?.route.key == route.key {
      path?.consent.heard(at: now)
    } else {
      events.append(.routeClaimed(route))
    }
    guard isCurrent else { return }
    if session.remote == nil {
      remember(request, sender: sender, priority: priority, route: route)
    } else {
      learn(route: route, priority: priority, nominates: request.nominates, now: now)
    }
  }

  /// Refuses a request that anybody may have made. Beyond their allowance such requests are dropped without an answer.
  private mutating func refuseForged(
    _ request: STUNMessage, _ code: STUNErrorCode, _ reason: ICEDropReason, route: Route, now: Timestamp,
    into batch: inout DatagramBatch
  ) {
    guard refusals.mayTake(PeerLimits.checksReceived, now: now) else { return statistics.count(.limitReached) }
    refuse(request, code, reason, key: nil, route: route, into: &batch)
  }

  private func formerIdentity(_ fragment: Span<UInt8>) -> LocalIdentity? {
    guard let former, equalInConstantTime(fragment, former.fragment.span) else { return nil }
    return former
  }

  /// Resolves role conflicts (RFC 8445 §7.3.1.1). False if the peer must change its role.
  private mutating func settleRoles(_ claimed: STUNICERole?, now: Timestamp, events: inout [ICEEvent]) -> Bool {
    switch (role, claimed) {
    case (.controlling, .controlling(let theirs)?):
      guard tieBreaker < theirs else { return false }
    case (.controlled, .controlled(let theirs)?):
      guard tieBreaker >= theirs else { return false }
    default: return true
    }
    switchRole(now: now, events: &events)
    return true
  }

  private mutating func switchRole(now: Timestamp, events: inout [ICEEvent]) {
    role = role.opposite
    session.nominationAt = nil
    for i in session.checklist.pairs.indices { session.checklist[i].nomination = .none }
    session.checklist.reprioritize(role: role)
    events.append(.roleChanged(role))
    evaluateNomination(now: now)
  }

  private mutating func answer(
    _ request: STUNMessage, key: STUNIntegrityKey, route: Route, into batch: inout DatagramBatch
  ) {
    statistics.responsesSent += 1
    let id = request.header.transactionID
    batch.append(to: route, capacity: Self.messageCapacity) { out in
      var writer = STUNMessageWriter(.success, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      writer.writeXorMappedAddress(route.remote)
      return writer.finish(key: key)
    }
  }

  /// Bytes of an error response with nothing but its code and FINGERPRINT.
  private static let refusalSize = STUNHeader.size + 8 + 8

  private mutating func refuse(
    _ request: STUNMessage, _ code: STUNErrorCode, _ reason: ICEDropReason?, key: STUNIntegrityKey?, route: Route,
    into batch: inout DatagramBatch
  ) {
    if let reason { statistics.count(reason) }
    // Replies to forged source addresses must not be longer than the requests.
    guard key != nil || STUNHeader.size + Int(request.header.length) >= Self.refusalSize else { return }
    statistics.errorResponsesSent += 1
    let id = request.header.transactionID
    let unknown = code == .unknownAttribute ? request.unknownRequiredAttributes : []
    batch.append(to: route, capacity: Self.messageCapacity) { out in
      var writer = STUNMessageWriter(.error, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      writer.write(code)
      if !unknown.isEmpty { writer.writeUnknownAttributes(unknown) }
      return writer.finish(key: key)
    }
  }

  private mutating func remember(_ request: STUNMessage, sender: Span<UInt8>, priority: UInt32, route: Route) {
    if let known = session.earlyChecks.firstIndex(where: { $0.route == route }) {
      session.earlyChecks.remove(at: known)
    }
    guard session.earlyChecks.count < configuration.maximumEarlyChecks else { return statistics.count(.limitReached) }
    session.earlyChecks.append(
      EarlyCheck(
        route: route, priority: priority, nominates: request.nominates, fragment: sender.indices.map { sender[$0] }))
  }

  // MARK: - Responses

  /// RFC 8445 §7.2.5.
  private mutating func handleResponse(
    _ response: STUNMessage, route: Route, now: Timestamp, events: inout [ICEEvent]
  ) {
    statistics.responsesReceived += 1
    let id = response.header.transactionID
    if let path, path.consent.awaits(id) {
      return handleConsentResponse(response, on: path, route: route, now: now, events: &events)
    }
    guard let position = session.transactions.firstIndex(where: { $0.id == id }), let remote = session.remote else {
      return statistics.count(.unknownTransaction)
    }
    guard response.isAuthentic(key: remote.key) else { return statistics.count(.badIntegrity) }
    let check = session.transactions.remove(at: position)
    guard let index = session.checklist.index(id: check.pair) else { return statistics.count(.unknownTransaction) }
    guard session.checklist[index].route.key == route.key else {
      statistics.count(.asymmetricResponse)
      return checkFailed(index, now: now)
    }
    if response.header.class == .success, response.xorMappedAddress != nil {
      checkSucceeded(index, check, now: now, events: &events)
    } else if response.errorCode == .roleConflict {
      yieldRole(of: check.role, now: now, events: &events)
      if let index = session.checklist.index(id: check.pair) { session.checklist.trigger(index) }
    } else {
      checkFailed(index, now: now)
    }
  }

  private mutating func handleConsentResponse(
    _ response: STUNMessage, on path: SelectedPath, route: Route, now: Timestamp, events: inout [ICEEvent]
  ) {
    guard response.isAuthentic(key: path.remote.key) else { return statistics.count(.badIntegrity) }
    guard path.route.key == route.key else { return statistics.count(.asymmetricResponse) }
    if response.header.class == .success {
      statistics.consentResponsesReceived += 1
      self.path?.consent.answered(response.header.transactionID, now: now, random: &random)
      session.confirmSelected()
    } else if response.errorCode == .roleConflict {
      yieldRole(of: stunRole, now: now, events: &events)
    }
  }

  /// A 487 came: takes the other role, unless that has happened since the request, and a new tie-breaker
  /// (RFC 8445 §7.2.5.1).
  private mutating func yieldRole(of request: STUNICERole, now: Timestamp, events: inout [ICEEvent]) {
    let requestRole: ICERole = if case .controlling = request { .controlling } else { .controlled }
    guard requestRole == role else { return }
    tieBreaker = random.next()
    switchRole(now: now, events: &events)
  }
}
