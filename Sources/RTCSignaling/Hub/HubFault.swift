/// A client's mistake, or a refused request. Each has a code for programs and a sentence for people.
package enum HubFault: Error, Hashable, Sendable {
  /// The message is malformed; half a sentence gives the reason.
  case malformed(String)
  /// A message has more bytes than `limit`.
  case tooLarge(limit: Int)
  /// The connection breaks the rules of WebSocket (RFC 6455): the status to close it with, and half a sentence.
  case brokenWebSocket(closeCode: UInt16, String)
  /// A binary WebSocket message.
  case notText
  /// More messages than the rate allows.
  case tooFast
  /// A message before `register`.
  case notRegistered
  /// A second `register` on one connection.
  case alreadyRegistered(as: String)
  /// A name that the hub does not take.
  case badName(String)
  /// A room, and half a sentence that says why the hub does not take its name.
  case badRoom(String, String)
  /// A name that belongs to another secret.
  case takenName(String)
  /// The credential does not admit the client.
  case notAdmitted(AccessRefusal)
  /// A secret too short to guard a name.
  case weakSecret
  /// No peer has that name.
  case unknownPeer(String)
  /// The other one speaks a dialect that has no words for this.
  case incompatible(String)
  /// The room has as many members as it takes.
  case roomFull(String)
  /// A message for a room that the peer is not in.
  case notInRoom(String)
  /// The hub has as many names as it takes.
  case tooManyPeers
  /// One network registers names faster than it may.
  case tooManyRegistrations
  /// The hub, or the peer, has as many rooms as it takes.
  case tooManyRooms
  /// Too many connections follow who comes and goes.
  case tooManyFollowers
  /// The hub has as many connections as it takes.
  case tooManyConnections
  /// No `register` in time.
  case neverRegistered
  /// No sign of life in time.
  case silent
  /// More waits for the connection than it reads.
  case tooSlow
  /// Too many refused messages; the connection is closed.
  case tooManyFaults
  /// A client with the secret of the name came back on another connection.
  case replaced
  /// The hub ends.
  case shuttingDown
  /// The hub does not reach the other hubs, and so grants nothing new.
  case clusterUnavailable
  /// While this hub did not reach the others, another client has taken the name.
  case lostName(String)

  /// The code for programs: `unknown-peer`, `too-fast` …
  package var code: String {
    switch self {
    case .malformed, .brokenWebSocket: "malformed"
    case .tooLarge: "too-large"
    case .notText: "not-text"
    case .tooFast: "too-fast"
    case .notRegistered: "not-registered"
    case .alreadyRegistered: "already-registered"
    case .badName: "bad-name"
    case .badRoom: "bad-room"
    case .takenName: "taken-name"
    case .notAdmitted(let refusal): refusal.code
    case .weakSecret: "weak-secret"
    case .unknownPeer: "unknown-peer"
    case .incompatible: "incompatible"
    case .roomFull: "room-full"
    case .notInRoom: "not-in-room"
    // Clients know this code and come back later.
    case .tooManyPeers, .tooManyRegistrations: "too-many-peers"
    case .tooManyRooms: "too-many-rooms"
    case .tooManyFollowers: "too-many-followers"
    case .tooManyConnections: "too-many-connections"
    case .neverRegistered: "never-registered"
    case .silent: "silent"
    case .tooSlow: "too-slow"
    case .tooManyFaults: "too-many-faults"
    case .replaced: "replaced"
    case .shuttingDown: "shutting-down"
    case .clusterUnavailable: "cluster-unavailable"
    case .lostName: "lost-name"
    }
  }

  /// A sentence for the user: the reason and the remedy.
  package var message: String {
    switch self {
    case .malformed(let problem): "The message cannot be read: \(problem)."
    case .brokenWebSocket(_, let problem): "The WebSocket connection breaks RFC 6455: \(problem)."
    case .tooLarge(let limit): "The message is larger than the \(limit) bytes that this hub takes."
    case .notText: "Messages are text frames with JSON; this one is binary."
    case .tooFast: "Messages come faster than this hub takes; this one was dropped. Wait a moment."
    case .notRegistered: "Register a name before anything else."
    case .alreadyRegistered(let name):
      "This connection is registered as \(name) already; open another for another name."
    case .badName(let problem): "The name cannot be used: \(problem)."
    case .badRoom(_, let problem): "The room's name cannot be used: \(problem)."
    case .takenName(let name): "The name \(name) is taken; choose another."
    case .notAdmitted(.missing), .notAdmitted(.wrong): "The token is missing or wrong for this name."
    case .notAdmitted(let refusal): refusal.sentence
    case .weakSecret: "A secret needs 16 to 128 characters."
    case .unknownPeer(let name): "There is no peer \(name) here."
    case .incompatible(let name): "\(name) speaks a protocol that cannot express this message."
    case .roomFull(let room): "The room \(room) is full."
    case .notInRoom(let room): "You are not in the room \(room)."
    case .tooManyPeers: "This hub has as many peers as it takes; try again later."
    case .tooManyRegistrations: "Your network registers names faster than this hub takes them; try again later."
    case .tooManyRooms: "This hub allows no more rooms; leave another first, or try again later."
    case .tooManyFollowers:
      "This hub reports presence to as many clients as it can; ask for the list again when you need it."
    case .tooManyConnections: "This hub has as many connections as it takes; try again later."
    case .neverRegistered: "No name was registered in time."
    case .silent: "The client sent nothing for too long."
    case .tooSlow: "The client reads messages more slowly than they arrive; reconnect when the network allows."
    case .tooManyFaults: "Too many messages were refused."
    case .replaced: "The name's owner came back on another connection."
    case .shuttingDown: "This hub is shutting down; reconnect in a moment."
    case .clusterUnavailable:
      "This hub cannot reach the other hubs now, and so grants no new names or places in rooms. Try again in a moment."
    case .lostName(let name):
      "The name \(name) was given to another client while this hub could not reach the other hubs. Register again."
    }
  }

  /// The peer that the fault is about, when it is about one.
  var peer: String? {
    switch self {
    case .unknownPeer(let name), .incompatible(let name): name
    default: nil
    }
  }

  /// The room that the fault is about, when it is about one.
  var room: String? {
    switch self {
    case .roomFull(let room), .notInRoom(let room), .badRoom(let room, _): room
    default: nil
    }
  }

  /// The cost for the connection's fault limit. Guessing tokens and secrets costs more; a missing receiver is not the
  /// sender's fault.
  var weight: Double {
    switch self {
    case .unknownPeer, .incompatible, .roomFull, .tooManyFollowers, .clusterUnavailable: 0
    case .notAdmitted, .takenName: 10
    default: 1
    }
  }

  /// The WebSocket status (RFC 6455 §7.4) for faults that end the connection.
  var closeCode: UInt16 {
    switch self {
    case .brokenWebSocket(let code, _): code
    case .tooLarge: 1009
    case .notText: 1003
    case .tooManyConnections, .tooManyPeers, .tooManyRegistrations, .clusterUnavailable: 1013
    case .shuttingDown: 1001
    case .replaced: 4000
    default: 1008
    }
  }
}
