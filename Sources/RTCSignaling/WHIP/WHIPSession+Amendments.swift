import RTCPrimitives

/// Candidates that come after the offer, and ICE restarts (RFC 9725 §4.3).
extension WHIPSession {
  /// Requests the next description to send. A restart goes first and does not wait for the response to candidates,
  /// which may not arrive over a dead path; its description includes the candidates.
  mutating func amend(_ now: Timestamp) {
    guard case .open(let resource) = phase, amendments.describing == nil, amendments.pauseEnds == nil else { return }
    if amendments.wantsRestart, resource.restarts {
      if amendments.underway?.patch == .restart { return }
      cancelPatch()
      amendments.describing = .restart
      actions.append(.restartICE)
    } else if amendments.hasCandidates, resource.takesCandidates, amendments.underway == nil {
      amendments.describing = .candidates
      amendments.hasCandidates = false
      actions.append(.describeCandidates)
    }
  }

  mutating func described(_ fragment: String) {
    guard case .open(let resource) = phase, let patch = amendments.describing else { return }
    amendments.describing = nil
    if patch == .restart { amendments.hasCandidates = false }
    send(patch, fragment, to: resource)
  }

  mutating func undescribed(_ now: Timestamp) {
    guard case .open = phase, let patch = amendments.describing else { return }
    amendments.describing = nil
    switch patch {
    case .candidates: break
    case .restart: restartImpossible(now)
    case .answer: leave(.answerRefused, now)
    }
  }

  mutating func send(_ patch: WHIPResource.Patch, _ body: String, to resource: WHIPResource) {
    let id = nextRequest()
    amendments.underway = (id, patch, body)
    actions.append(.send(resource.request(patch, id: id, body: body)))
  }

  mutating func patchAnswered(_ resource: WHIPResource, _ response: WHIPResponse, _ now: Timestamp) {
    guard let underway = amendments.underway else { return }
    var resource = resource
    let result = resource.receive(response, to: underway.patch)
    phase = .open(resource)
    amendments.underway = nil
    if underway.patch == .answer, result != .taken, result != .again {
      let error = WHIPExchange.error(
        status: response.status, method: "PATCH", body: response.body, hadToken: exchange.authorization != nil)
      return leave(.refused(error), now)
    }
    switch result {
    case .taken: amendments.failures = 0
    case .restarted(let fragment):
      amendments.failures = 0
      amendments.wantsRestart = false
      actions += [.acceptFragment(fragment), .report(.restarted)]
    case .unsupported: if underway.patch == .restart { restartImpossible(now) }
    case .again: send(underway.patch, underway.body, to: resource)
    case .later(let seconds):
      // A server that answers, but cannot restart while nothing comes through, has lost the session.
      if underway.patch == .restart, path == .lost, amendments.failures >= 2 { return replace(.unreachable, now) }
      pauseAmendments(seconds, now)
    case .gone: replace(.unreachable, now, isGone: true)
    }
  }

  /// Without a restart, a lost connection is made again; a silent one gets more time.
  mutating func restartImpossible(_ now: Timestamp) {
    amendments.wantsRestart = false
    switch path {
    case .good: break
    case .silent: amendments.silenceEnds = amendments.silenceEnds ?? now + options.silence
    case .lost: replace(.unreachable, now)
    }
  }

  mutating func pauseAmendments(_ seconds: Int?, _ now: Timestamp) {
    amendments.failures += 1
    if !amendments.wantsRestart {
      // Checks do without; the server learns our candidates from them.
      guard amendments.failures <= 3 else { return }
      amendments.hasCandidates = true
    }
    let own = pause(amendments.failures, longest: options.longestRestartPause)
    let wanted = TimeDelta.seconds(Int64(min(seconds ?? 0, 10)))
    amendments.pauseEnds = now + max(own, wanted)
  }

  mutating func pathChanged(_ path: Path, _ now: Timestamp) {
    guard case .open(let resource) = phase else { return }
    self.path = path
    switch path {
    case .good:
      amendments.silenceEnds = nil
      // A restart under way continues: the server may have restarted already.
      if amendments.underway?.patch != .restart, amendments.describing != .restart { amendments.wantsRestart = false }
    case .silent, .lost:
      guard resource.restarts else { return restartImpossible(now) }
      amendments.wantsRestart = true
      amendments.pauseEnds = nil
    }
  }

  mutating func cancelPatch() {
    if let underway = amendments.underway { actions.append(.cancel(underway.id)) }
    amendments.underway = nil
  }
}
