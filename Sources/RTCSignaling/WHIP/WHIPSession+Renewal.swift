import RTCPrimitives

/// Renewal of a session whose connection or server is lost, and its end.
extension WHIPSession {
  mutating func connected(_ now: Timestamp) {
    if wasConnected, connectedSince == nil { actions.append(.report(.resumed)) }
    (wasConnected, lost) = (true, nil)
    if connectedSince == nil { connectedSince = now }
  }

  mutating func disconnected(_ loss: Loss, _ now: Timestamp) {
    switch phase {
    case .open: replace(loss, now, isGone: loss == .goodbye)
    case .connecting, .offering:
      guard wasConnected else { return leave(.unconnected(loss), now) }
      if case .offering(_, _, let id) = phase { actions.append(.cancel(id)) }
      beginAnew(now, after: loss)
    case .fresh, .replacing, .pausing, .leaving, .ended: break
    }
  }

  /// The session has come to nothing: another takes its place.
  mutating func replace(_ loss: Loss, _ now: Timestamp, isGone: Bool = false) {
    guard case .open(let resource) = phase else { return }
    guard wasConnected else { return leave(.unconnected(loss), now) }
    let isSettled = connectedSince.map { now - $0 >= options.settled } ?? false
    connectedSince = nil
    saidGoodbye = loss == .goodbye
    lost = lost ?? (now, loss)
    if isSettled { (attempts, goodbyes) = (0, 0) }
    if saidGoodbye {
      goodbyes += 1
      guard goodbyes <= 3 else { return end(.goodbye) }
      // The response to a last request shows whether the session still exists.
      if options.endsAtGoodbye { return leave(.goodbye, now) }
    }
    cancelPatch()
    actions.append(.disconnect)
    if isGone { return beginAnew(now, after: loss) }
    let id = nextRequest()
    phase = .replacing(deletion: id, until: now + options.leaveTimeout)
    actions += [.report(.interrupted(loss, retryIn: .zero)), .send(resource.deletion(id: id))]
  }

  /// - Parameter loss: a loss that has not been reported yet.
  mutating func beginAnew(_ now: Timestamp, after loss: Loss? = nil) {
    let pause = nextPause()
    if let loss { actions.append(.report(.interrupted(loss, retryIn: pause))) }
    if pause > .zero { phase = .pausing(until: now + pause) } else { connect() }
  }

  /// The pause before the next attempt: none before the first, except after a goodbye, when the server is about to
  /// stop.
  mutating func nextPause() -> TimeDelta {
    defer { attempts += 1 }
    return attempts == 0 && !saidGoodbye && wasConnected ? .zero : pause(attempts, longest: options.longestPause)
  }

  mutating func pause(_ attempt: Int, longest: TimeDelta) -> TimeDelta {
    let full = min(options.firstPause.nanoseconds << min(max(0, attempt - 1), 16), longest.nanoseconds)
    return TimeDelta(nanoseconds: full / 2 + Int64.random(in: 0...max(0, full / 2), using: &random))
  }

  mutating func deadlineReached(_ now: Timestamp) {
    switch phase {
    case .open:
      if let ends = amendments.pauseEnds, ends <= now { amendments.pauseEnds = nil }
      if let ends = amendments.silenceEnds, ends <= now { replace(.unreachable, now) }
    case .replacing(let id, let until) where until <= now:
      actions.append(.cancel(id))
      beginAnew(now)
    case .pausing(let until) where until <= now: connect()
    case .leaving(let id, _, let end, let until) where until <= now:
      actions.append(.cancel(id))
      self.end(end)
    default: break
    }
  }

  // MARK: - The end

  mutating func leave(_ end: End, _ now: Timestamp) {
    let until = now + options.leaveTimeout
    switch phase {
    case .open(let resource):
      cancelPatch()
      let id = nextRequest()
      phase = .leaving(request: id, resource, end, until: until)
      actions += [.disconnect, .send(resource.deletion(id: id))]
    // The server may have made a session already; its answer says where.
    case .offering(_, _, let id):
      phase = .leaving(request: id, nil, end, until: until)
      actions.append(.disconnect)
    case .replacing(let id, _): phase = .leaving(request: id, nil, end, until: until)
    case .fresh, .connecting, .pausing: self.end(end)
    case .leaving, .ended: break
    }
  }

  /// - Parameter resource: nil while its address is not known.
  mutating func lastAnswered(
    _ resource: WHIPResource?, _ response: WHIPResponse, _ end: End, until: Timestamp
  ) {
    var next = resource
    if var resource, [307, 308].contains(response.status), resource.move(response) {
      next = resource
    } else if resource == nil, response.status == 201 {
      var exchange = exchange
      if case .published(let publication)? = try? exchange.receive(response) {
        next = WHIPResource(publication, exchange.credentials)
      }
    } else {
      next = nil
      if end == .goodbye, [401, 403].contains(response.status) {
        let refusal = WHIPExchange.error(
          status: response.status, method: "DELETE", body: response.body, hadToken: exchange.authorization != nil)
        return self.end(.refused(refusal))
      }
    }
    guard let next else { return self.end(end) }
    let id = nextRequest()
    phase = .leaving(request: id, next, end, until: until)
    actions.append(.send(next.deletion(id: id)))
  }

  mutating func end(_ end: End) {
    if case .ended = phase { return }
    if let question { actions.append(.cancel(question)) }
    question = nil
    phase = .ended
    actions += [.disconnect, .end(end)]
  }
}
