import RTCPrimitives

/// What a client asks for, whatever its dialect.
enum HubRequest {
  /// - Parameters:
  ///   - isListed: whether others see the name among who is there.
  ///   - isReturning: whether it says that it was registered here before.
  case register(name: String?, token: String?, secret: String?, isListed: Bool, isReturning: Bool)
  /// Wants to know who is there, and with `isFollowing` who comes and goes from now on.
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
}

/// A message on its way from one client to another.
struct HubRelay {
  var to: String
  /// Tells calls between the same two apart; handed on as it is.
  var call: String?
  var body: Body
  /// As the sender's dialect had it, for a receiver of the same.
  var original: Original

  enum Body {
    /// A session description, `{"type":…,"sdp":…}`, as it was written. The kind is its type.
    case description(kind: String, json: String)
    /// What the native dialect says of calls, as it was written.
    case call(CallSignal, json: String)
    /// Anything else two applications tell each other, as it was written.
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

  /// It rings, or is an offer of a protocol that does not ring.
  var beginsCall: Bool {
    switch body {
    case .call(let signal, _): if case .ring = signal.body { true } else { false }
    case .description(let kind, _): kind == "offer"
    case .data, .candidate, .bye: false
    }
  }

  /// What a caller of another dialect wants to send and see, as far as its protocol says.
  var media: [String: Bool] {
    guard case .peerJS(_, let payload?) = original, let reader = try? HubMessageReader(parsing: Array(payload.utf8)),
      (try? reader.text("type")) == "data"
    else { return ["audio": true, "video": true] }
    return ["data": true]
  }

  /// For the limits on what is held.
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

/// What a client is told, whatever its dialect.
enum HubNotice {
  case registered(name: String, secret: String, iceServers: [ICEServer], rooms: [String], isResumed: Bool)
  case relayed(from: String, to: String, HubRelay)
  /// Fresh credentials.
  case iceServers([ICEServer])
  /// Who is in the room already, in the order they came; for the newcomer, who calls them.
  case peers(room: String, [String], you: String)
  case joined(room: String, peer: String)
  case left(room: String, peer: String)
  /// Who is at the hub beside the one who asked, by name.
  case present([String])
  case arrived(String)
  case gone(String)
  case pong
  case fault(HubFault, to: String?)
}
