import RTCPrimitives

/// A request of a client, in any dialect.
enum HubRequest {
  /// - Parameters:
  ///   - isListed: whether others see the name among who is there.
  ///   - isReturning: whether it says that it was registered here before.
  case register(name: String?, token: String?, secret: String?, isListed: Bool, isReturning: Bool)
  /// Requests the list of peers and, with `isFollowing`, its changes.
  case list(isFollowing: Bool)
  case relay(HubRelay)
  case join(room: String)
  /// Nil: every room.
  case leave(room: String?)
  /// Wants a word back.
  case ping
  /// Wants none.
  case heartbeat
  /// Gives its name back and goes.
  case quit

  /// Whether the request is performed once the name that is claimed for its client is granted.
  var needsName: Bool {
    switch self {
    case .ping, .heartbeat, .quit: false
    case .register, .list, .relay, .join, .leave: true
    }
  }
}

/// A message on its way from one client to another.
struct HubRelay {
  var to: String
  /// The identifier that distinguishes calls between the same two peers; forwarded unchanged.
  var call: String?
  var body: Body
  /// The message in the sender's dialect, for receivers of the same dialect.
  var original: Original

  enum Body {
    /// A session description, `{"type":…,"sdp":…}`, as it was written. The kind is its type.
    case description(kind: String, json: String)
    /// A call signal of the native dialect, with its text.
    case call(CallSignal, json: String)
    /// Other data between two applications, as written.
    case data(json: String)
    /// A candidate in the shape of `RTCIceCandidateInit`, or null after the last, as it was written.
    case candidate(ICECandidateInit?, json: String)
    case bye(reason: String?)
  }

  enum Original {
    case native
    case peerJS(type: String, payload: String?)
    /// The members of `data` but for `socketId`.
    case skyRTC([(String, JSONValue)])
  }

  /// Whether the message rings, or is an offer of a protocol without ringing.
  var beginsCall: Bool {
    switch body {
    case .call(let signal, _): if case .ring = signal.body { true } else { false }
    case .description(let kind, _): kind == "offer"
    case .data, .candidate, .bye: false
    }
  }

  /// The media that a caller of another dialect wants to send and receive, as far as its protocol says.
  var media: [String: Bool] {
    guard case .peerJS(_, let payload?) = original, let reader = try? HubMessageReader(parsing: Array(payload.utf8)),
      (try? reader.text("type")) == "data"
    else { return ["audio": true, "video": true] }
    return ["data": true]
  }

  /// The size for the limits on held messages.
  var bytes: Int {
    let text =
      switch body {
      case .description(_, let json), .call(_, let json), .data(let json), .candidate(_, let json): json.utf8.count
      case .bye(let reason): reason?.utf8.count ?? 0
      }
    return switch original {
    case .native: text
    case .peerJS(_, let payload): text + (payload?.utf8.count ?? 0)
    case .skyRTC: text * 2
    }
  }
}

/// A message to a client, in any dialect.
enum HubNotice {
  case registered(name: String, secret: String, iceServers: [ICEServer], rooms: [String], isResumed: Bool)
  case relayed(from: String, to: String, HubRelay)
  /// Fresh credentials.
  case iceServers([ICEServer])
  /// The members of a room, in the order of their arrival; for the newcomer, which calls them.
  case peers(room: String, [String], you: String)
  case joined(room: String, peer: String)
  case left(room: String, peer: String)
  /// The other peers at the hub, by name.
  case present([String])
  case arrived(String)
  case gone(String)
  case pong
  case fault(HubFault, to: String?)
}
