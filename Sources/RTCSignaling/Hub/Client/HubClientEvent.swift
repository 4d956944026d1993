public import RTCPrimitives

/// An event of a hub's client.
public enum HubClientEvent: Sendable, Hashable {
  /// The hub knows this client: at first, and each time the connection came back.
  case registered(HubRegistration)
  /// STUN and TURN servers with new credentials, before the old ones expire.
  case iceServers([ICEServer])
  /// The data is JSON, as `CallSignal(json:)` takes it. Older clients name the call beside the data.
  case signal(from: String, data: String, call: String?)
  /// Nil after the last.
  case candidate(from: String, ICECandidateInit?, call: String?)
  /// Hung up: the call named, or all calls with that peer.
  case bye(from: String, reason: String?, call: String?)
  /// The members of a room at our arrival; the newcomer calls them. Repeated after a connection was lost.
  case peers(room: String, [String])
  /// A peer has entered a room that we are in.
  case peerJoined(room: String, peer: String)
  /// A peer has left the room.
  case peerLeft(room: String, peer: String)
  /// The other peers at the hub, after `list` or `follow`; repeated to followers after a connection was lost.
  case present([String])
  /// A peer has arrived; reported to followers.
  case peerArrived(String)
  /// A peer has left the hub.
  case peerGone(String)
  /// The hub refused a message, or could not deliver it.
  case refused(HubRefusal)
  /// The connection broke; the next attempt follows after the delay. Messages sent meanwhile wait.
  case disconnected(HubClientError, retryAfter: TimeDelta)
  /// The last event. Nil after `close()`.
  case ended(HubClientError?)
}

/// A client's registration at the hub.
public struct HubRegistration: Sendable, Hashable {
  /// The name by which other peers reach the client.
  public var id: String
  /// Whether the hub still knew the client, with its rooms and waiting messages.
  public var isResumed: Bool
  /// The rooms that the name is in already.
  public var rooms: [String]
  /// STUN and TURN servers that the hub recommends.
  public var iceServers: [ICEServer]

  /// Makes a registration.
  public init(id: String, isResumed: Bool = false, rooms: [String] = [], iceServers: [ICEServer] = []) {
    self.id = id
    self.isResumed = isResumed
    self.rooms = rooms
    self.iceServers = iceServers
  }
}

/// The hub's `error` message.
public struct HubRefusal: Sendable, Hashable {
  /// The code as in `HubFault.code`: `unknown-peer`, `room-full`, `too-fast` …
  public var code: String
  /// The hub's sentence.
  public var message: String
  /// The receiver of the refused message.
  public var peer: String?
  /// The room it was about.
  public var room: String?

  /// Makes a refusal.
  public init(code: String, message: String, peer: String? = nil, room: String? = nil) {
    self.code = code
    self.message = message
    self.peer = peer
    self.room = room
  }
}

/// Why there is no connection to the hub; the text says whose fault it is and what to do next.
public enum HubClientError: Error, Sendable, Hashable {
  // The caller's.
  /// The text is not a hub's URL.
  case badAddress(String)
  /// `connect` was called twice.
  case alreadyConnected
  /// Names have 1 to 64 characters, all visible, and none of / ? # \.
  case badName(String)
  /// The client was closed.
  case closed

  // The network's.
  /// DNS knows no such host.
  case unknownHost(String)
  /// The connection was refused: no program listens there.
  case refusedConnection(HubAddress)
  /// The network refused; the reason is the system's.
  case unreachable(HubAddress, reason: String)
  /// No answer within so many seconds.
  case timeout(HubAddress, seconds: Int64)
  /// The certificate or the handshake was refused.
  case tls(HubAddress, reason: String)
  /// The connection broke.
  case connectionLost(reason: String)

  // The hub's.
  /// The server answered with this HTTP status in place of a WebSocket.
  case notAHub(HubAddress, status: Int)
  /// The hub wants a token, or another.
  case badToken(hadToken: Bool)
  /// The link is not valid, or not any more; the hub's sentence gives the reason.
  case linkRefused(String)
  /// Another peer has the name.
  case nameTaken(String)
  /// A client with this client's secret registered on another connection.
  case replaced
  /// Any other refusal.
  case refused(HubRefusal)

  /// The party at fault.
  public var fault: SignalingFault {
    switch self {
    case .badAddress, .alreadyConnected, .badName, .closed: .caller
    case .unknownHost, .refusedConnection, .unreachable, .timeout, .connectionLost: .network
    case .badToken, .linkRefused, .nameTaken: .permission
    case .tls, .notAHub, .replaced, .refused: .server
    }
  }
}

extension HubClientError: CustomStringConvertible {
  /// A sentence for the user: the reason and the remedy.
  public var description: String {
    switch self {
    case .badAddress(let text): "\"\(text)\" is not a hub's address; it must look like wss://host or ws://host:8080."
    case .alreadyConnected: "This client has been connected before; make another for another connection."
    case .badName(let sentence): sentence
    case .closed: "The client has been closed."
    case .unknownHost(let host): "There is no host named \(host); check the address, or this machine's name resolution."
    case .refusedConnection(let hub): "Nothing listens at \(hub); is the hub running, and is the port right?"
    case .unreachable(let hub, let reason): "\(hub) cannot be reached (\(reason)); check the network."
    case .timeout(let hub, let seconds): "\(hub) did not answer within \(seconds) s; try again, or check the server."
    case .tls(let hub, let reason): "No secure connection to \(hub): \(reason.endingSentence)"
    case .connectionLost(let reason): "The connection to the hub was lost: \(reason.endingSentence)"
    case .notAHub(let hub, 426): "The server at \(hub) accepts secure connections only; use https:// or wss:// there."
    case .notAHub(let hub, let status): "The server at \(hub) answered \(status) instead of WebSocket; is a hub there?"
    case .badToken(true): "The hub refused the token for this name; check --token."
    case .badToken(false): "The hub wants a token; pass it with --token-file or --token, or give the whole link."
    case .linkRefused(let sentence): sentence
    case .nameTaken(let name): "The name \(name) is taken at the hub; choose another."
    case .replaced: "This name was taken over on another connection."
    case .refused(let refusal): "The hub refused: \(refusal.message)"
    }
  }
}
