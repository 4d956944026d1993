import RTCPrimitives
import RTCWire

/// Nomination and the watch over the selected route.
extension ICEAgent {
  /// A peer that nominates another pair of lower priority means it only when it has not confirmed the present one for so
  /// long: aggressive nomination (RFC 5245) names many pairs at once and means the best, while browsers move later.
  private static let nominationMemory = TimeDelta.seconds(2)
  private static let recently = TimeDelta.seconds(1)
  /// The silence of the selected path after which the peer's media on another path is followed.
  private static let followingDelay = TimeDelta.milliseconds(500)

  /// As controlling agent, decides whether to nominate a pair now.
  mutating func evaluateNomination(now: Timestamp) {
    guard role == .controlling else { return }
    if case .completed(let selected) = session.phase, let consent = path?.consent {
      let (isSilent, doubtedSince) = (consent.isSilent(at: now), consent.doubted(at: now))
      if isSilent || doubtedSince != nil {
        session.nominationAt = nil
        return nominateInstead(of: selected, heardSince: isSilent ? nil : doubtedSince.map { $0 - Self.recently })
      }
    }
    guard !session.checklist.pairs.contains(where: { $0.nomination == .underWay }) else { return }
    switch session.phase {
    case .checking: nominateBest(now: now)
    case .completed(let selected):
      // Later nominations are for better pairs alone: then peers of all kinds follow.
      if let best = session.checklist.bestValid, session.checklist[best].id != selected,
        let current = session.checklist.index(id: selected), best < current
      {
        nominateBest(now: now)
      } else {
        session.nominationAt = nil
      }
    case .awaitingRemote, .failed: session.nominationAt = nil
    }
  }

  /// Nominates the best valid pair (RFC 8445 §8.1.1): at once when no better pair may still succeed soon, else after a short
  /// wait from the first success. A better one that works later, such as a direct way after a relay, is nominated then; the
  /// RFC wants a restart for it, but browsers move and accept moves like this.
  private mutating func nominateBest(now: Timestamp) {
    guard let best = session.checklist.bestValid else {
      session.nominationAt = nil
      return
    }
    let hasRival = session.checklist.pairs[..<best].contains { $0.state != .failed }
    if hasRival {
      let deadline = session.nominationAt ?? now + configuration.nominationDelay
      session.nominationAt = deadline
      guard deadline <= now else { return }
    }
    session.nominationAt = nil
    nominate(best)
  }

  /// When the selected pair is silent, nominates the best pair that has answered since: the peer's address has changed, or
  /// another interface still works. RFC 8445 §8.1.1 asks for a restart instead, which needs signaling that may be gone.
  private mutating func nominateInstead(of selected: Int, heardSince time: Timestamp?) {
    let others = session.checklist.pairs.indices.filter { i in
      let pair = session.checklist[i]
      return pair.state == .succeeded && pair.id != selected && time.map { pair.heardAt >= $0 } ?? true
    }
    guard let best = others.first, session.checklist[best].nomination != .underWay else { return }
    for i in session.checklist.pairs.indices { session.checklist[i].nomination = .none }
    // It must work again before it counts as the better one.
    session.checklist.doubt(only: selected)
    nominate(best)
  }

  /// A pair has begun to work that is no better than the selected one. The peer may have found it because it has lost the
  /// selected one, which is therefore asked whether it is still there.
  mutating func doubtSelected(now: Timestamp) {
    guard role == .controlling, session.selectedPair != nil, now - session.nominatedAt >= Self.recently else { return }
    path?.consent.doubt(now: now)
  }

  /// The selected pair is silent: results of the other pairs may be just as old, so they are checked again.
  mutating func tryOthers() {
    guard let selected = session.selectedPair else { return }
    session.checklist.doubt(except: selected)
  }

  private mutating func nominate(_ index: Int) {
    session.checklist[index].nomination = .underWay
    session.checklist.trigger(index, first: true)
  }

  /// As controlled agent, accepts the peer's nomination of a working pair (RFC 8445 §7.3.1.5).
  mutating func acceptNomination(_ index: Int, now: Timestamp) {
    let pair = session.checklist[index]
    guard let selected = session.selectedPair, let current = session.checklist.index(id: selected) else {
      return select(index, now: now)
    }
    if selected == pair.id {
      session.nominatedAt = now
      session.declinedNomination = nil
    } else if pair.priority > session.checklist[current].priority || path?.consent.isSilent(at: now) == true
      || now - session.nominatedAt >= Self.nominationMemory
    {
      select(index, now: now)
    } else {
      session.declinedNomination = pair.id
    }
  }

  /// The peer's media comes another way than ours goes. A controlled agent follows when the peer has nominated that way, which
  /// it now turns out to have meant. A controlling one nominates it when nothing comes the selected way any more: the peer
  /// may have lost the interface that it needs for it.
  mutating func follow(_ route: Route, now: Timestamp) {
    guard let selected = session.selectedPair, let index = session.checklist.index(route: route),
      session.checklist[index].state == .succeeded, session.checklist[index].id != selected, let path
    else { return }
    session.checklist[index].heardAt = now
    switch role {
    case .controlled:
      if session.declinedNomination == session.checklist[index].id { select(index, now: now) }
    case .controlling:
      let patience = max(Self.followingDelay, (path.consent.roundTripTime ?? .zero) * 4)
      guard path.consent.hasHeardNothing(since: now - patience), now - session.nominatedAt >= patience,
        !session.checklist.pairs.contains(where: { $0.nomination == .underWay })
      else { return }
      session.checklist.doubt(only: selected)
      nominate(index)
    }
  }

  /// Media goes along this pair from now on; only better ones are still tried.
  mutating func select(_ index: Int, now: Timestamp) {
    guard let remote = session.remote else { return }
    let pair = session.checklist[index]
    let isMove = session.selectedPair != nil
    session.phase = .completed(pair: pair.id)
    session.nominationAt = nil
    session.nominatedAt = now
    session.declinedNomination = nil
    session.selectionLostAt = nil
    session.rest(behind: pair.id)
    let consent = ConsentMonitor(
      configuration: configuration, roundTripTime: pair.roundTripTime, checksAtOnce: isMove, now: now, random: &random)
    path = SelectedPath(
      route: pair.route, local: pair.local, remote: remote,
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
        id: STUNTransactionID(high: transactionTag, low: random.next()), username: path.remote.username, role: stunRole,
        priority: path.priority,
        nominates: role == .controlling)
      request.write(key: path.remote.key, route: path.route, into: &batch)
      path.consent.sent(request.id, now: now)
      statistics.requestsSent += 1
      statistics.consentRequestsSent += 1
    case .expired:
      self.path = nil
      // A pending restart continues; a session that had selected this route is over.
      if session.selectedPair != nil { session.phase = .failed }
      return
    }
    self.path = path
  }
}
