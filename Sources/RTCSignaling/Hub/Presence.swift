/// The names and rooms of a hub, and the uses of links by which names were taken. Several hubs that share one presence have
/// no name twice. Any thread.
///
/// The hub claims what it is about to serve, after it has found no reason in its own tables to refuse it, and serves it
/// once the claim is granted.
package protocol Presence: AnyObject, Sendable {
  /// Sets where late answers and the changes at other hubs go. Called once, before the first claim. `report` may be called
  /// on any thread, and after a release, which an answer has no effect on.
  func start(report: @escaping @Sendable (PresenceEvent) -> Void)

  /// Answers a claim, or returns nil: then the answer comes later. A hub has at most one claim to the same thing.
  func claim(_ claim: PresenceClaim) -> PresenceAnswer?

  /// Ends a claim: a granted one because the name or the place in the room is free again, or an unanswered one because its
  /// peer has left. An answer that is on its way is void.
  func release(_ subject: PresenceClaim.Subject)

  /// Whether messages to peers that have lost their connection are kept outside of this hub, so that they are not lost with it.
  var keepsMessages: Bool { get }

  /// Passes a message to a peer that another hub serves, or that has lost its connection to this one.
  func pass(_ message: PresenceMessage)

  /// Reads the messages that are kept for a peer of this hub; they come as `PresenceEvent.collected`. The peer is connected.
  func collectMessages(for name: String)

  /// A peer of this hub has lost its connection, and may come back.
  func noteAbsence(of name: String)

  /// The messages to a peer of this hub are delivered, up to the one with this number: they need not be kept any longer.
  func confirm(_ number: Int64, for name: String)

  /// The hub ends. Its names are kept for their owners, which come back at other hubs. Releases have no effect any more.
  func stop()
}

extension Presence {
  /// Does nothing: all claims are answered at once.
  package func start(report: @escaping @Sendable (PresenceEvent) -> Void) {}
  /// The hub keeps messages itself.
  package var keepsMessages: Bool { false }
  /// Does nothing: there is no other hub.
  package func pass(_ message: PresenceMessage) {}
  /// Does nothing: the hub keeps messages itself.
  package func collectMessages(for name: String) {}
  /// Does nothing.
  package func noteAbsence(of name: String) {}
  /// Does nothing.
  package func confirm(_ number: Int64, for name: String) {}
  /// Does nothing.
  package func stop() {}
}

/// A claim of one hub.
package struct PresenceClaim: Sendable, Hashable {
  /// The number of a claim. A hub never uses it twice.
  package struct ID: Sendable, Hashable {
    package var rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
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
  /// The link by which the owner of a name comes: the claim is one use of it, by the owner of `secret`.
  package var link: SignedLink?
  /// The secret that the owner of a name brought: with it, the name or the use of the link is the same owner's again.
  package var client: String?
  /// The secret by which the owner of a name comes back: that of the client, or one that the hub has made.
  package var secret = ""
  /// The protocol of the owner of a name, and whether the name is in lists.
  package var dialect = HubDialect.native
  package var isListed = true

  package init(id: ID, subject: Subject, link: SignedLink? = nil, client: String? = nil) {
    (self.id, self.subject, self.link, self.client) = (id, subject, link, client)
  }
}

/// The answer to a claim.
package enum PresenceAnswer: Sendable, Hashable {
  case granted
  /// Granted: the owner of the name comes from another hub, with places in these rooms.
  case moved(rooms: [String])
  /// Another hub serves the name.
  case taken
  /// The link has been used as often as it may.
  case usedUp
  /// The link has been revoked.
  case revoked
  /// All hubs together have as many names, or members of the room, as they take.
  case full
  /// The hubs cannot decide now.
  case unavailable
}

/// A peer of another hub.
package struct RemotePeer: Sendable, Hashable {
  package var name: String
  package var dialect: HubDialect
  package var isListed: Bool
  /// In the order they were entered.
  package var rooms: [String]
  /// Whether its hub has failed, so that the peer is expected at another one.
  package var isAbsent: Bool

  package init(
    _ name: String, dialect: HubDialect = .native, isListed: Bool = true, rooms: [String] = [], isAbsent: Bool = false
  ) {
    (self.name, self.dialect, self.isListed, self.rooms, self.isAbsent) = (name, dialect, isListed, rooms, isAbsent)
  }
}

/// A message between peers of different hubs, or the fault that a message has met.
package struct PresenceMessage: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// The message as the sender wrote it, in this dialect.
    case request(HubDialect, [UInt8])
    /// The named receiver of an earlier message is not at the cluster.
    case unknownPeer(String)
    /// The named receiver of an earlier message speaks a dialect that cannot express the message.
    case incompatible(String)
  }

  package var from: String
  package var to: String
  package var body: Body
  package init(from: String, to: String, _ body: Body) {
    (self.from, self.to, self.body) = (from, to, body)
  }
}

/// News of a presence for its hub.
package enum PresenceEvent: Sendable, Hashable {
  /// A claim is answered.
  case answered(PresenceClaim.ID, PresenceAnswer)
  /// A peer is at another hub, or something about it has changed. A peer of this hub with that name has moved there.
  case remote(RemotePeer)
  /// A name at another hub is free.
  case gone(String)
  /// This hub must not serve a name any more: it belongs to another client.
  case lost(String)
  /// A peer of another hub is in a room.
  case entered(room: String, String)
  /// A peer of another hub is no more in a room.
  case left(room: String, String)
  /// A fault that a message of a peer of this hub has met.
  case message(PresenceMessage)
  /// A message to a peer of this hub.
  case letter(PresenceLetter)
  /// All messages that are kept for a peer of this hub, oldest first.
  case collected(String, [PresenceLetter])
  /// A message could not be passed on, for now.
  case returned(PresenceMessage)
  /// Whether the hub reaches the others.
  case connected(Bool)
  /// A link was revoked at another hub.
  case revoked(String, expires: Int64?)
  /// A client with this IP address has shown a wrong credential to another hub.
  case wrongTry(String)
}

/// The presence of a hub that shares its names with no other: its own tables decide, so every claim is granted at once.
package final class LocalPresence: Presence {
  package init() {}
  package func claim(_ claim: PresenceClaim) -> PresenceAnswer? { .granted }
  package func release(_ subject: PresenceClaim.Subject) {}
}
