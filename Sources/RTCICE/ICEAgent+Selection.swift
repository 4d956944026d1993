import RTCPrimitives
import RTCWire

/// Nomination and the watch over the selected route.
extension ICEAgent {
  /// A peer that nominates another pair of lower priority means it only when it has not confirmed the present one for so
  /// long: aggressive nomination (RFC 5245) names many pairs at once and means the best, while browsers move later.
  private static let nominationMemory = TimeDelta.seconds(2)

  /// As controlling agent, decides whether a pair is to be nominated now.
  mutating func evaluateNomination(now: Timestamp) {
    guard role == .controlling, !session.checklist.pairs.contains(where: { $0.nomination == .underWay }) else { return }
    switch session.phase {
    case .checking: nominateFirst(now: now)
    case .completed(let selected): nominateInstead(of: selected, now: now)
    case .awaitingRemote, .failed: break
    }
  }

  /// Nominates the best valid pair (RFC 8445 §8.1.1): at once when no better pair may still succeed, else after a short wait
  /// from the first success.
  private mutating func nominateFirst(now: Timestamp) {
    guard let best = session.checklist.bestValid else { return }
    let hasRival = session.checklist.pairs[..<best].contains { $0.state != .failed }
    if hasRival {
      let deadline = session.nominationAt ?? now + configuration.nominationDelay
      session.nominationAt = deadline
      guard deadline <= now else { return }
    }
    session.nominationAt = nil
    nominate(best)
  }

  /// When the selected pair is silent, nominates the valid pair heard of last: the peer's address has changed, or another
  /// interface still works. RFC 8445 §8.1.1 asks for a restart instead, but browsers move and accept moves like this,
  /// and a restart needs signalling that may be gone.
  private mutating func nominateInstead(of selected: Int, now: Timestamp) {
    guard path?.consent.isSilent(at: now) == true else { return }
    let others = session.checklist.pairs.indices.filter { i in
      session.checklist[i].state == .succeeded && session.checklist[i].id != selected
    }
    guard let best = others.max(by: { session.checklist[$0].heardAt < session.checklist[$1].heardAt }) else { return }
    nominate(best)
  }

  private mutating func nominate(_ index: Int) {
    session.checklist[index].nomination = .underWay
    session.checklist.trigger(index, first: true)
  }

  /// As controlled agent, takes up the peer's nomination of a pair that works (RFC 8445 §7.3.1.5).
  mutating func acceptNomination(_ index: Int, now: Timestamp) {
    let pair = session.checklist[index]
    guard let selected = session.selectedPair, let current = session.checklist.index(id: selected) else {
      return select(index, now: now)
    }
    if selected == pair.id {
      session.nominatedAt = now
    } else if pair.priority > session.checklist[current].priority || path?.consent.isSilent(at: now) == true
      || now - session.nominatedAt >= Self.nominationMemory
    {
      select(index, now: now)
    }
  }

  /// Media goes along this pair from now on; the rest of the list rests.
  mutating func select(_ index: Int, now: Timestamp) {
    guard let remote = session.remote else { return }
    let pair = session.checklist[index]
    let isMove = session.selectedPair != nil
    session.phase = .completed(pair: pair.id)
    session.nominationAt = nil
    session.nominatedAt = now
    session.cancelTransactions(exceptFor: pair.id)
    let consent = ConsentMonitor(
      configuration: configuration, roundTripTime: pair.roundTripTime, checksAtOnce: isMove, now: now, random: &random)
    path = SelectedPath(
      route: pair.route, remote: remote,
      priority: ICECandidate.priority(kind: .peerReflexive, localPreference: pair.local.localPreference),
      consent: consent)
  }

  /// Consent checks (RFC 7675 §5.1). At its end nothing may be sent on the route any more. The controlling agent's confirm
  /// the nomination, as browsers' do: after a change of its address at a NAT, the peer so learns which way to use.
  mutating func watchConsent(now: Timestamp, into batch: inout DatagramBatch) {
    guard var path else { return }
    switch path.consent.step(now: now) {
    case .none: break
    case .check:
      let request = ICERequest(
        id: STUNTransactionID(using: &random), username: path.remote.username, role: stunRole, priority: path.priority,
        nominates: role == .controlling)
      request.write(key: path.remote.key, route: path.route, into: &batch)
      path.consent.sent(request.id, now: now)
      statistics.requestsSent += 1
      statistics.consentRequestsSent += 1
    case .expired:
      self.path = nil
      // A restart under way goes on; a session that had chosen this route is over.
      if session.selectedPair != nil { session.phase = .failed }
      return
    }
    self.path = path
  }
}
