/// The names and rooms of a hub, and the uses of links by which names were taken. Several hubs that share one presence have
/// no name twice. Any thread.
///
/// The hub claims what it is about to serve, after it has found no reason in its own tables to refuse it, and serves it
/// once the claim is granted.
package protocol Presence: AnyObject, Sendable {
  /// Sets where late answers go. Called once, before the first claim. `answer` may be called on any thread, and after a
  /// release, which it has no effect on.
  func start(answer: @escaping @Sendable (PresenceClaim.ID, PresenceAnswer) -> Void)

  /// Answers a claim, or returns nil: then the answer comes later. A hub has at most one claim to the same thing.
  func claim(_ claim: PresenceClaim) -> PresenceAnswer?

  /// Ends a claim: a granted one because the name or the place in the room is free again, or an unanswered one because its
  /// peer has left. An answer that is on its way is void.
  func release(_ subject: PresenceClaim.Subject)
}

extension Presence {
  /// Does nothing: all claims are answered at once.
  package func start(answer: @escaping @Sendable (PresenceClaim.ID, PresenceAnswer) -> Void) {}
}

/// A claim of one hub.
package struct PresenceClaim: Sendable, Hashable {
  /// The number of a claim. A hub never uses it twice.
  package struct ID: Sendable, Hashable {
    package var rawValue: UInt64
  }

  /// The thing that is claimed.
  package enum Subject: Sendable, Hashable {
    /// A name.
    case name(String)
    /// A peer's place in a room.
    case room(String, peer: String)
  }

  package var id: ID
  package var subject: Subject
  /// The link by which the owner of a name comes: the claim is one use of it.
  package var link: SignedLink?
  /// The secret that the owner of a name brought: with it, the name or the use of the link is the same owner's again.
  package var client: String?
}

/// The answer to a claim.
package enum PresenceAnswer: Sendable, Hashable {
  case granted
  /// Another hub serves the name.
  case taken
  /// The link has been used as often as it may.
  case usedUp
  /// All hubs together have as many names, or members of the room, as they take.
  case full
}

/// The presence of a hub that shares its names with no other: its own tables decide, so every claim is granted at once.
package final class LocalPresence: Presence {
  package init() {}
  package func claim(_ claim: PresenceClaim) -> PresenceAnswer? { .granted }
  package func release(_ subject: PresenceClaim.Subject) {}
}
