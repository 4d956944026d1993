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
