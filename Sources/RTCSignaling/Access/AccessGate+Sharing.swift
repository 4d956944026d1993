/// Uses, revocations and wrong credentials that several servers share.
extension AccessGate {
  /// A use that `count` has counted, which `giveBack` may undo.
  package struct CountedUse: Sendable, Hashable {
    let link: SignedLink
    let client: String?
    /// Nil: this server alone counts.
    let shared: LinkUse?
  }

  /// Lets others decide about uses from now on, and tells them of the links that were used and revoked here.
  package func share(by links: any SharedAccess) {
    let ledger = state.withLock { state in
      state.shared = links
      return state.ledger
    }
    links.add(ledger)
  }

  /// Whether a grant has a limited number of uses that several servers count together.
  package func sharesUses(of grant: AccessGrant) -> Bool {
    grant.link?.uses != nil && state.withLock { $0.shared != nil }
  }

  /// Counts one use, as `use` does, but in all servers that share the links.
  /// - Returns: the use, if one was counted. Pass it to `keep` or `giveBack`.
  package func count(
    _ grant: AccessGrant, client: String?, now: AccessTime
  ) async throws(AccessRefusal) -> CountedUse? {
    let shared = state.withLock { $0.shared }
    guard let link = grant.link, link.uses != nil, let shared else {
      guard try use(grant, client: client, now: now), let link = grant.link else { return nil }
      return CountedUse(link: link, client: client, shared: nil)
    }
    try recheck(grant, now: now)
    switch await shared.use(link, client: client) {
    case .counted(let use): return CountedUse(link: link, client: client, shared: use)
    case .known:
      note(link, client: client, now: now)
      return nil
    case .usedUp: throw .usedUp
    case .revoked: throw .revoked
    case .unavailable: throw .uncounted
    }
  }

  /// Adds a use that others have counted to the ledger, for the next start of this server.
  package func note(_ link: SignedLink, client: String?, now: AccessTime) {
    guard state.withLock({ $0.shared != nil }) else { return }
    change(now) { _ = $0.use(link, client: client) }
  }

  /// The request that counted a use was granted.
  package func keep(_ use: CountedUse, now: AccessTime) {
    if let counted = use.shared { note(use.link, client: use.client ?? counted.user, now: now) }
  }

  /// Undoes a counted use, because the request was refused later.
  package func giveBack(_ use: CountedUse, now: AccessTime) {
    guard let counted = use.shared else { return giveBack(.link(use.link), client: use.client, now: now) }
    state.withLock { $0.shared }?.giveBack(counted)
  }

  /// Notes a wrong credential that a client has shown to another server.
  package func noteWrongTry(from address: String, now: AccessTime) {
    state.withLock { $0.wrongTries.note(address, now: now.monotonic) }
  }

  /// Notes a link that another server has revoked.
  /// - Returns: false if it was known as revoked.
  package func noteRevoked(_ id: String, expires: Int64?, now: AccessTime) -> Bool {
    change(now) { ledger in
      guard !ledger.isRevoked(id) else { return false }
      ledger.revoke(id, expires: expires)
      return true
    }
  }
}
