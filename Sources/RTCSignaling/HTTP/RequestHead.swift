import RTCPrimitives

/// The parts of an HTTP request's head that signaling looks at.
package struct RequestHead: Sendable, Equatable {
  /// `GET`, `POST` … as sent.
  package var method: String
  /// The request target as sent: path and query.
  package var target: String
  /// `Host`.
  package var host: String?
  /// `Origin`.
  package var origin: String?
  /// `Authorization`.
  package var authorization: String?
  /// `Content-Type`.
  package var contentType: String?
  /// Bytes of the body when announced; nil when none is announced or it comes in chunks.
  package var contentLength: Int?
  /// `If-Match` as sent.
  package var ifMatch: String?
  /// `If-None-Match` as sent.
  package var ifNoneMatch: String?
  /// `Accept-Encoding` as sent.
  package var acceptEncoding: String?
  /// The client waits for `100 Continue` before it sends the body.
  package var expectsContinue: Bool
  /// The protocol that `Upgrade` names.
  package var upgrade: String?
  /// `Access-Control-Request-Method`: a browser asks on behalf of a page of another origin (CORS preflight).
  package var requestedMethod: String?
  /// Host and port by which the client knows the server, as a trusted proxy states them; nil: none does.
  package var statedHost: String?
  /// The scheme of the client's request, as a trusted proxy states it.
  package var statedScheme: WebAddress.Scheme?
  /// `RTCast-Checks`: the client's session is not connected.
  package var checks: ViewerChecks?
  /// `RTCast-Client`: the client's identifier, so that a return is not another use of its link. Nil if it is missing,
  /// or not 16 to 64 letters, digits, `-` and `_`.
  package var client: String?

  package init(
    method: String, target: String, host: String? = nil, origin: String? = nil, authorization: String? = nil,
    contentType: String? = nil, contentLength: Int? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil,
    acceptEncoding: String? = nil, expectsContinue: Bool = false,
    upgrade: String? = nil, requestedMethod: String? = nil, client: String? = nil
  ) {
    self.method = method
    self.target = target
    self.host = host
    self.origin = origin
    self.authorization = authorization
    self.contentType = contentType
    self.contentLength = contentLength
    self.ifMatch = ifMatch
    self.ifNoneMatch = ifNoneMatch
    self.acceptEncoding = acceptEncoding
    self.expectsContinue = expectsContinue
    self.upgrade = upgrade
    self.requestedMethod = requestedMethod
    self.client = client.flatMap { text in
      (16...64).contains(text.utf8.count) && text.utf8.allSatisfy(Base64URL.isLetter) ? text : nil
    }
  }

  /// `Host` without the blanks around it.
  var authority: String? { host.map { String($0.trimmingBlanks()) } }

  /// A copy for a server that is known under a path, and for the place that a trusted proxy states.
  package func seen(under basePath: BasePath?, at place: ForwardedPlace) -> RequestHead {
    var head = self
    if let basePath, !isForHub { head.target = basePath.stripped(from: target) }
    (head.statedHost, head.statedScheme) = (place.host, place.scheme)
    return head
  }

  /// A WebSocket for one of the hub's own paths: the base path may have the same name.
  private var isForHub: Bool {
    guard upgrade?.lowercased() == "websocket", case .hub? = SignalingRoute(path: path) else { return false }
    return true
  }

  /// The target's path without its query.
  package var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }

  /// The target's query, decoded. The first of several equal names counts; parts that cannot be decoded are left out.
  var query: [String: String] {
    var parts: [String: String] = [:]
    let text = target.dropFirst(path.count + 1).prefix { $0 != "#" }
    for part in text.split(separator: "&", maxSplits: 32) {
      let name = part.prefix { $0 != "=" }
      guard let key = PercentEncoding.decode(name), parts[key] == nil else { continue }
      let value = part.dropFirst(name.count + 1).map { $0 == "+" ? " " : $0 }
      parts[key] = PercentEncoding.decode(String(value))
    }
    return parts
  }

  /// The path for a log: that of a known resource, without parts that may be secret (a query, a session's name, the key
  /// of PeerJS). An unknown path is not shown, since users mistype tokens into addresses.
  package var publicPath: String {
    switch SignalingRoute(path: path) {
    case .page: "/"
    case .viewer: "/watch"
    case .health: "/health"
    case .metrics: "/metrics"
    case .snapshot: "/snapshot.webp"
    case .wall: "/wall"
    case .streams: "/streams"
    case .streamPicture(let stream): "/snapshot/" + stream.foreignText()
    case .pick(let resource): resource.publicPath
    case .hub(.native): "/hub"
    case .hub(.peerJS): "/peerjs"
    case .hub(.skyRTC): "/skyrtc"
    case .freeName: "/…/id"
    case .peerNames: "/…/peers"
    case .reach: "/reach"
    case .endpoint(let endpoint, let stream): endpoint.path + (stream.map { "/" + $0.foreignText() } ?? "")
    case .session(let endpoint, _): endpoint.sessionPrefix + "…"
    case nil: "/…"
    }
  }

  /// The media type without its parameters, in lower case.
  var mediaType: String? {
    contentType?.prefix { $0 != ";" }.trimmingBlanks().lowercased()
  }

  /// The first entity tag of `If-Match` without quotes and weakness; `*` stays `*`.
  var entityTag: String? {
    guard let tag = ifMatch?.prefix(while: { $0 != "," }), !tag.trimmingBlanks().isEmpty else { return nil }
    return Self.opaqueTag(tag)
  }

  /// An entity tag without quotes and weakness.
  static func opaqueTag(_ text: Substring) -> String {
    var tag = text.trimmingBlanks()
    if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
    if tag.hasPrefix("\""), tag.hasSuffix("\""), tag.utf8.count >= 2 { tag = tag.dropFirst().dropLast() }
    return String(tag)
  }
}

extension StringProtocol {
  /// Without the blanks and tabs at either end.
  package func trimmingBlanks() -> Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    var part = Substring(self).drop(while: isBlank)
    while let last = part.last, isBlank(last) { part.removeLast() }
    return part
  }
}
