/// The resources that a signaling server has.
public enum SignalingRoute: Sendable, Equatable {
  case page
  case health
  /// `/whep` or `/whep/STREAM`.
  case endpoint(stream: String?)
  /// `/whep/session/ID`.
  case session(id: String)
  /// `/hub`, `/peerjs` and `/skyrtc`: WebSocket.
  case hub(HubDialect)
  /// `/peerjs/id`: a free name, for PeerJS clients that have none.
  case freeName
  /// `/metrics`, in Prometheus' format.
  case metrics

  static let sessionPrefix = "/whep/session/"

  /// Nil for a path that names nothing here.
  public init?(path: some StringProtocol) {
    let path = Substring(path)
    switch path {
    case "/", "/index.html": self = .page
    case "/health": self = .health
    case "/metrics": self = .metrics
    case "/hub", "/hub/": self = .hub(.native)
    case "/peerjs", "/peerjs/": self = .hub(.peerJS)
    case "/peerjs/id": self = .freeName
    case "/skyrtc", "/skyrtc/": self = .hub(.skyRTC)
    case "/whep", "/whep/": self = .endpoint(stream: nil)
    default:
      if path.hasPrefix(Self.sessionPrefix) {
        let id = path.dropFirst(Self.sessionPrefix.count)
        guard (1...128).contains(id.utf8.count), id.utf8.allSatisfy(Self.isIdentifierByte) else { return nil }
        self = .session(id: String(id))
      } else {
        guard path.hasPrefix("/whep/"), let name = PercentEncoding.decode(path.dropFirst(6)),
          (1...128).contains(name.utf8.count),
          name.unicodeScalars.allSatisfy({ $0.value > 31 && $0 != "/" && $0.value != 127 })
        else { return nil }
        self = .endpoint(stream: name)
      }
    }
  }

  /// For `Allow` and `Access-Control-Allow-Methods`.
  public var methods: [String] {
    switch self {
    case .page, .health, .metrics, .freeName: ["GET", "HEAD", "OPTIONS"]
    case .hub: ["GET", "OPTIONS"]
    case .endpoint: ["POST", "OPTIONS"]
    case .session: ["PATCH", "DELETE", "OPTIONS"]
    }
  }

  /// Whether a configured token is asked for.
  var isGuarded: Bool {
    switch self {
    // The hub asks for its tokens itself.
    case .page, .health, .hub, .freeName: false
    case .endpoint, .session, .metrics: true
    }
  }

  var needsHub: Bool {
    switch self {
    case .hub, .freeName, .metrics: true
    case .page, .health, .endpoint, .session: false
    }
  }

  private static func isIdentifierByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
  }
}
