public import RTCPrimitives

/// What happens to a client of the hub.
public enum HubClientEvent: Sendable, Hashable {
  /// The hub knows this client: at first, and each time the connection came back.
  case registered(HubRegistration)
  /// The data is JSON, as `CallSignal(json:)` takes it. Older clients name the call beside the data.
  case signal(from: String, data: String, call: String?)
  /// Nil after the last.
  case candidate(from: String, ICECandidateInit?, call: String?)
  /// Hung up: the call named, or all calls with that peer.
  case bye(from: String, reason: String?, call: String?)
  /// Who is in the room already; the newcomer calls them. Comes anew after a connection was lost.
  case peers(room: String, [String])
  case peerJoined(room: String, peer: String)
  case peerLeft(room: String, peer: String)
  /// Who else is at the hub, after `list` or `follow`; to who follows it comes anew after a connection was lost.
  case present([String])
  /// To who follows.
  case peerArrived(String)
  case peerGone(String)
  /// The hub refused a message, or could not deliver it.
  case refused(HubRefusal)
  /// The connection broke; the next attempt follows after the delay. What is sent meanwhile waits.
  case disconnected(HubClientError, retryAfter: TimeDelta)
  /// There will be no more events. Nil after `close()`.
  case ended(HubClientError?)
}

/// What a client is to the hub.
public struct HubRegistration: Sendable, Hashable {
  /// Its name, by which others reach it.
  public var id: String
  /// The hub still knew it, with its rooms and what came for it meanwhile.
  public var isResumed: Bool
  public var rooms: [String]
  /// STUN and TURN servers that the hub recommends.
  public var iceServers: [ICEServerLink]

  public init(id: String, isResumed: Bool = false, rooms: [String] = [], iceServers: [ICEServerLink] = []) {
    self.id = id
    self.isResumed = isResumed
    self.rooms = rooms
    self.iceServers = iceServers
  }
}

/// The hub's `error` message.
public struct HubRefusal: Sendable, Hashable {
  /// As in `HubFault.code`: `unknown-peer`, `room-full`, `too-fast` …
  public var code: String
  /// The hub's sentence.
  public var message: String
  public var peer: String?
  public var room: String?

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
  case badAddress(String)
  case alreadyConnected
  case badName(String)
  case closed

  // The network's.
  case unknownHost(String)
  case refusedConnection(HubAddress)
  case unreachable(HubAddress, reason: String)
  case timeout(HubAddress, seconds: Int64)
  case tls(HubAddress, reason: String)
  case connectionLost(reason: String)

  // The hub's.
  case notAHub(HubAddress, status: Int)
  case badToken(hadToken: Bool)
  case nameTaken(String)
  /// Somebody with this client's secret registered on another connection.
  case replaced
  case refused(HubRefusal)

  public var fault: SignalingFault {
    switch self {
    case .badAddress, .alreadyConnected, .badName, .closed: .caller
    case .unknownHost, .refusedConnection, .unreachable, .timeout, .connectionLost: .network
    case .badToken, .nameTaken: .permission
    case .tls, .notAHub, .replaced, .refused: .server
    }
  }
}

extension HubClientError: CustomStringConvertible {
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
    case .tls(let hub, let reason): "No secure connection to \(hub): \(reason)."
    case .connectionLost(let reason): "The connection to the hub was lost: \(reason)."
    case .notAHub(let hub, let status): "The server at \(hub) answered \(status) instead of WebSocket; is a hub there?"
    case .badToken(true): "The hub refused the token for this name; check --token."
    case .badToken(false): "The hub wants a token; pass it with --token."
    case .nameTaken(let name): "The name \(name) is taken at the hub; choose another."
    case .replaced: "This name was taken over on another connection."
    case .refused(let refusal): "The hub refused: \(refusal.message)"
    }
  }
}
