import RTCPrimitives

extension Hub {
  /// Performs everything that is due.
  mutating func wake(_ now: Timestamp) {
    while let due = wakes.popDue(now) {
      switch due {
      case .connection(let id): check(id, now)
      case .peer(let name):
        if case .absent(let until) = peers[name]?.link, until <= now { remove(name) }
      case .held(let name): expireHeld(for: name, now)
      }
    }
  }

  /// Checks whether the client of a connection still answers.
  private mutating func check(_ id: HubConnectionID, _ now: Timestamp) {
    guard let connection = connections[id] else { return }
    let limits = configuration.limits
    if connection.isNameless {
      let end = connection.opened + limits.registerTimeout
      if end <= now { return self.end(id, because: .neverRegistered, .lost, now) }
      return wakes.insert(.connection(id), at: end)
    }
    if let refusal = overdue(id) { return end(id, because: .notAdmitted(refusal), .goodbye, now) }
    let gone = connection.heard + limits.silenceTimeout
    if gone <= now { return end(id, because: .silent, .lost, now) }
    var next = connection.heard + limits.pingInterval
    if next <= now {
      actions.append(.ping(id))
      next = now + limits.pingInterval
    }
    if let due = refreshCredentials(of: id, now) { next = min(next, due) }
    wakes.insert(.connection(id), at: min(next, gone))
  }
}
