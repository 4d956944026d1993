import RTCPrimitives

/// The two kinds of endpoints at which a server takes offers by HTTP.
package enum SignalingEndpoint: String, Sendable, CaseIterable {
  /// A viewer's offer.
  case whep
  /// A publisher's offer (RFC 9725).
  case whip

  var path: String { "/" + rawValue }
  var sessionPrefix: String { path + "/session/" }

  /// The beginning of a session's address, relative to the request that opens it: `/whep` or `/whep/STREAM`.
  func sessionReference(from request: some StringProtocol) -> String {
    request.hasPrefix(path + "/") ? "session/" : rawValue + "/session/"
  }

  /// The right that opening a session there takes.
  package var right: AccessRight {
    switch self {
    case .whep: .watch
    case .whip: .publish
    }
  }
}

/// The resources that a signaling server has.
package enum SignalingRoute: Sendable, Equatable {
  /// `/`.
  case page
  /// `/watch`: the viewer page, if the front page is another.
  case viewer
  /// `/health` and `/healthz`.
  case health
  /// `/whep` or `/whep/STREAM`, `/whip` or `/whip/STREAM`.
  case endpoint(SignalingEndpoint, stream: String?)
  /// `/whep/session/ID` and `/whip/session/ID`.
  case session(SignalingEndpoint, id: String)
  /// `/hub`, `/peerjs` and `/skyrtc`: WebSocket.
  case hub(HubDialect)
  /// `/KEY/id`: a free name, for PeerJS clients that have none.
  case freeName
  /// `/KEY/peers`: the peers that can be called, for PeerJS clients.
  case peerNames(key: String)
  /// `/snapshot.webp`: the whole picture, for clients that may watch.
  case snapshot
  /// `/wall`: the page that shows all streams.
  case wall
  /// `/streams`: the list of streams, for clients that may watch.
  case streams
  /// `/snapshot/STREAM`: a still picture of a stream, for clients that may watch it.
  case streamPicture(String)
  /// The page on which a caster picks a source, and its parts.
  case pick(PickResource)
  /// `/reach`: the hub sends something to the client's own address.
  case reach
  /// `/metrics`, in Prometheus' format.
  case metrics

  /// Nil for a path that names nothing here.
  package init?(path: some StringProtocol) {
    let path = Substring(path)
    switch path {
    case "/", "/index.html": self = .page
    case "/watch": self = .viewer
    case "/health", "/healthz": self = .health
    case "/metrics": self = .metrics
    case "/snapshot.webp": self = .snapshot
    case "/wall": self = .wall
    case "/streams": self = .streams
    case "/reach": self = .reach
    case "/hub", "/hub/": self = .hub(.native)
    case "/peerjs", "/peerjs/": self = .hub(.peerJS)
    case "/skyrtc", "/skyrtc/": self = .hub(.skyRTC)
    default:
      if let endpoint = SignalingEndpoint.allCases.first(where: { path == $0.path || path.hasPrefix($0.path + "/") }) {
        self.init(path, through: endpoint)
      } else if let resource = PickResource(path: path) {
        self = .pick(resource)
      } else if path.hasPrefix(Self.picturePrefix),
        let name = PercentEncoding.decode(path.dropFirst(Self.picturePrefix.count)),
        Self.isStreamName(name)
      {
        self = .streamPicture(name)
      } else if path.hasSuffix("/id"), path.dropFirst().dropLast(3).utf8.allSatisfy({ $0 != 47 }), path.utf8.count > 4 {
        self = .freeName
      } else if path.hasPrefix("/"), path.hasSuffix("/peers"),
        case let key = path.dropFirst().dropLast(6), !key.utf8.contains(47), let key = PercentEncoding.decode(key),
        !key.isEmpty
      {
        self = .peerNames(key: key)
      } else {
        return nil
      }
    }
  }

  private static let picturePrefix = "/snapshot/"

  private init?(_ path: Substring, through endpoint: SignalingEndpoint) {
    if path.hasPrefix(endpoint.sessionPrefix) {
      let id = path.dropFirst(endpoint.sessionPrefix.count)
      guard (1...128).contains(id.utf8.count), id.utf8.allSatisfy(Base64URL.isLetter) else { return nil }
      self = .session(endpoint, id: String(id))
      return
    }
    let name = path.dropFirst(endpoint.path.count + 1)
    guard !name.isEmpty else {
      self = .endpoint(endpoint, stream: nil)
      return
    }
    guard let stream = PercentEncoding.decode(name), Self.isStreamName(stream) else { return nil }
    self = .endpoint(endpoint, stream: stream)
  }

  /// Names are shown in pages, logs and terminals: nothing in them that cannot be seen or that turns text around.
  private static func isStreamName(_ name: String) -> Bool {
    (1...128).contains(name.utf8.count)
      && name.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator: false
        default: scalar != "/"
        }
      }
  }

  /// For `Allow` and `Access-Control-Allow-Methods`.
  package var methods: [String] {
    switch self {
    case .page, .viewer, .health, .snapshot, .wall, .streams, .streamPicture, .metrics, .freeName, .peerNames:
      ["GET", "HEAD", "OPTIONS"]
    case .pick(let resource): resource.methods
    case .hub: ["GET", "OPTIONS"]
    case .reach: ["POST", "OPTIONS"]
    // GET and HEAD are answered without content (RFC 9725 §4.1).
    case .endpoint: ["POST", "GET", "HEAD", "OPTIONS"]
    case .session: ["PATCH", "DELETE", "GET", "HEAD", "OPTIONS"]
    }
  }

  /// The required right; nil: none.
  var right: AccessRight? {
    switch self {
    // The hub asks for its tokens itself.
    case .page, .viewer, .wall, .health, .hub, .freeName, .peerNames: nil
    case .endpoint(let endpoint, _), .session(let endpoint, _): endpoint.right
    case .snapshot, .streams, .streamPicture: .watch
    // No link gives it: see `RequestRouter`.
    case .pick: .publish
    case .metrics: .metrics
    case .reach: .call
    }
  }

  var needsHub: Bool {
    switch self {
    case .hub, .freeName, .peerNames, .reach: true
    case .page, .viewer, .health, .metrics, .snapshot, .wall, .streams, .streamPicture, .pick, .endpoint, .session:
      false
    }
  }
}
