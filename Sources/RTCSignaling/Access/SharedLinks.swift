/// The used and revoked links that several servers share. Any thread.
package protocol SharedLinks: AnyObject, Sendable {
  /// Counts one use of a link with a limited number of uses.
  /// - Parameter client: an unguessable, constant identifier of the client; see `AccessGate.use`.
  func use(_ link: SignedLink, client: String?) async -> LinkUseAnswer

  /// Undoes a counted use. Another use by the same client, which has come since, keeps it.
  func giveBack(_ use: LinkUse)

  /// Notifies the other servers of a link that was revoked here.
  /// - Parameter expires: the Unix time of the link's end; nil: none, or unknown.
  func revoke(_ id: String, expires: Int64?)

  /// Adds the links that this server knows as used or revoked.
  func add(_ ledger: LinkLedger)
}

/// One counted use of a link.
package struct LinkUse: Sendable, Hashable {
  /// The link's identifier.
  package var link: String
  /// The client among the users of the link. It does not reveal the client's identifier.
  package var user: String
  /// Unlike that of any other use.
  package var number: String

  package init(link: String, user: String, number: String) {
    (self.link, self.user, self.number) = (link, user, number)
  }
}

/// The answer to a use of a link.
package enum LinkUseAnswer: Sendable, Hashable {
  case counted(LinkUse)
  /// The client has used the link before: nothing was counted.
  case known
  case usedUp
  case revoked
  /// Nobody can say how often the link was used.
  case unavailable
}

/// A use that `AccessGate.count` has counted, which `AccessGate.giveBack` may undo.
package struct CountedUse: Sendable, Hashable {
  let link: SignedLink
  let client: String?
  /// Nil: this server alone counts.
  let shared: LinkUse?
}
