/// The resources that a signaling server has.
public enum SignalingRoute: Sendable, Equatable {
  case page
  case health
  /// `/whep` or `/whep/STREAM`.
  case endpoint(stream: String?)
  /// `/whep/session/ID`.
  case session(id: String)

  static let sessionPrefix = "/whep/session/"

  /// Nil for a path that names nothing here.
  public init?(path: some StringProtocol) {
    let path = Substring(path)
    switch path {
    case "/", "/index.html": self = .page
    case "/health": self = .health
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
    case .page, .health: ["GET", "HEAD", "OPTIONS"]
    case .endpoint: ["POST", "OPTIONS"]
    case .session: ["PATCH", "DELETE", "OPTIONS"]
    }
  }

  /// Whether a configured token is asked for.
  var isGuarded: Bool {
    switch self {
    case .page, .health: false
    case .endpoint, .session: true
    }
  }

  private static func isIdentifierByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
  }
}
