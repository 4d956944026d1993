/// Decides by a request's head which resource it may have. No state, no input or output.
package struct RequestRouter: Sendable {
  /// The action for a request once it has arrived completely.
  package enum Action: Sendable, Equatable {
    /// This reply, at once.
    case reply(HTTPReply)
    /// The page at `/`.
    case page(PageRequest)
    /// Send the viewer page.
    case viewer(PageRequest)
    /// Send the health figures, with numbers only for clients that may watch.
    case health(detail: Bool)
    /// An offer, for the stream named.
    case open(SignalingEndpoint, stream: String?, by: AccessGrant, client: String? = nil)
    /// Candidates for a session, or a restart of ICE.
    case patch(SignalingEndpoint, id: String, etag: String?)
    /// The answer to an offer of ours.
    case accept(SignalingEndpoint, id: String)
    /// Whether a session is there, and why it is not connected if the client asks.
    case find(SignalingEndpoint, id: String, ViewerChecks? = nil)
    /// This reply, and the STUN and TURN servers of the endpoint.
    case servers(SignalingEndpoint, HTTPReply)
    /// The end of a session.
    case close(SignalingEndpoint, id: String)
    /// The whole picture as it is now.
    case snapshot(by: AccessGrant, client: String? = nil)
    /// The page that shows all streams.
    case wall(PageRequest)
    /// The list of streams.
    case streams(StillRequest)
    /// A still picture of a stream.
    case picture(of: String, width: Int, StillRequest)
    /// A part of the page on which a caster picks a source.
    case pick(PickResource, known: [String])
    /// Figures for Prometheus.
    case metrics
    /// A free name, for PeerJS.
    case freeName
    /// The names at the hub, for clients with the hub's token.
    case peerNames(key: String)
    /// Something is to be sent to the client's own address.
    case reach(ReachRequest)
    /// Go over to WebSocket and the hub.
    case hub(HubDialect, query: [String: String])

    /// Whether the body matters.
    package var readsBody: Bool {
      switch self {
      case .open, .patch, .accept, .pick(.choice, _): true
      case .reply, .page, .viewer, .health, .find, .servers, .close, .snapshot, .wall, .streams, .picture, .pick,
        .metrics, .freeName, .peerNames, .reach, .hub:
        false
      }
    }
  }

  /// The sender of a request for still pictures or their list, and what it has already.
  package struct StillRequest: Sendable, Equatable {
    package var grant: AccessGrant
    package var client: String?
    /// The entity tags of the pictures or lists that the client has.
    package var known: [String]
  }

  static let fragmentType = "application/trickle-ice-sdpfrag"
  static let descriptionType = "application/sdp"

  private let gate: AccessGate
  private let isSecure: Bool
  private let isLoopback: Bool
  /// The names of this machine, if it listens there, and those of proxies.
  private let names: Set<HostName>
  private let proxyNames: Set<HostName>
  private let hasHub: Bool
  private let takesPublications: Bool
  private let hasPicker: Bool
  /// In lower case; `*` admits all.
  private let origins: Set<String>
  private let publicAddress: PublicAddress?
  private let basePath: BasePath?

  /// - Parameters:
  ///   - listen: the server's address; it decides whether names in `Host` are checked.
  ///   - gate: the access control.
  ///   - isSecure: whether the server speaks TLS.
  ///   - hostNames: further names of the server, such as that of a proxy in front of it.
  ///   - hasHub: whether the paths of the hub and its figures exist.
  ///   - takesPublications: whether WHIP exists, and with it the page that shows all streams.
  ///   - hasPicker: whether the page exists on which a caster picks a source.
  ///   - origins: web sites, as `https://host`, whose pages may use this server without a token; `*` for all.
  ///   - machineNames: the names of this machine on its network.
  ///   - publicAddress: the address of the front page behind a proxy.
  ///   - basePath: the path under which proxies pass requests on; that of the public address if it is nil.
  package init(
    listen: ListenAddress, gate: AccessGate, isSecure: Bool = false, hostNames: [String] = [], hasHub: Bool = false,
    takesPublications: Bool = false, hasPicker: Bool = false, origins: [String] = [], machineNames: [String] = [],
    publicAddress: PublicAddress? = nil, basePath: BasePath? = nil
  ) {
    self.gate = gate
    self.isSecure = isSecure
    self.hasHub = hasHub
    self.takesPublications = takesPublications
    self.hasPicker = hasPicker
    self.origins = Set(origins.map { $0.lowercased() })
    self.isLoopback = listen.host.isLoopback
    self.publicAddress = publicAddress
    self.basePath = basePath ?? publicAddress?.basePath
    proxyNames = Set(hostNames.map { HostName($0) } + [publicAddress?.web.host].compactMap(\.self))
    names = proxyNames.union(machineNames.map { HostName($0) } + [listen.host])
  }

  /// A request as this server's own paths name it.
  /// - Parameter place: where a trusted proxy says that the client sent it.
  package func localized(_ head: RequestHead, at place: ForwardedPlace) -> RequestHead {
    head.seen(under: basePath, at: place)
  }

  /// Evaluates the head of a request.
  /// - Parameters:
  ///   - address: the client's IP address.
  ///   - audit: receives refusals of access.
  package func evaluate(
    _ head: RequestHead, from address: String, now: AccessTime, audit: (AuditEvent) -> Void = { _ in }
  ) -> Action {
    if let refusal = refusalOfSource(head) { return .reply(refusal) }
    if let reference = redirect(head) { return .reply(.moved(to: reference)) }
    guard let route = route(head) else {
      return .reply(
        HTTPReply(status: 404, sentence: "There is nothing at this path; viewers go to /, WHEP is at /whep."))
    }
    let access = access(to: route, head, from: address, now)
    if head.method == "OPTIONS" {
      // Whether a link that several hubs count has uses left is known when it is used.
      let isAdmitted = (try? access.get()).map { !gate.sharesUses(of: $0) } ?? false
      return options(route, head, isAdmitted: isAdmitted)
    }
    guard route.methods.contains(head.method) else {
      let allowed = route.methods.joined(separator: ", ")
      return .reply(HTTPReply(status: 405, sentence: "This path takes \(allowed).", headers: ["Allow": allowed]))
    }
    do throws(AccessRefusal) { return action(route, head, by: try access.get()) } catch {
      guard let right = route.right else { return action(route, head, by: nil) }
      audit(AuditEvent(error, right: right, shown: AccessToken.shown(in: head.authorization), from: address))
      return .reply(.refusal(error))
    }
  }

  /// The pages' references are relative, so that each page has one address only.
  private func redirect(_ head: RequestHead) -> String? {
    let query = head.target.dropFirst(head.path.count).prefix { $0 != "#" }
    switch head.path {
    case "": return basePath.map { "\($0.name)/\(query)" }
    case "/watch/": return "../watch\(query)"
    default: return nil
    }
  }

  /// The grant of a request. If the resource is public, the credential only decides about additional content.
  private func access(
    to route: SignalingRoute, _ head: RequestHead, from address: String, _ now: AccessTime
  ) -> Result<AccessGrant, AccessRefusal> {
    var isNew = false
    // A client without access gets no picture either.
    switch route {
    case .endpoint, .snapshot, .streams, .streamPicture: isNew = true
    default: break
    }
    let shown = AccessToken.shown(in: head.authorization)
    do throws(AccessRefusal) {
      // The details of /health are figures.
      let grant = try gate.evaluate(
        shown, for: route.right ?? .metrics, client: head.client, isNew: isNew, from: address, now: now)
      try checkStream(route, grant)
      return .success(grant)
    } catch { return .failure(error) }
  }

  /// A link may be for one stream of a hub; a cast has only one. Only the caster picks a source.
  private func checkStream(_ route: SignalingRoute, _ grant: AccessGrant) throws(AccessRefusal) {
    if case .pick = route, let link = grant.link { throw .otherRight(link.right) }
    guard takesPublications, let stream = grant.link?.stream else { return }
    let asked: String?
    switch route {
    case .endpoint(_, let name): asked = name
    case .streamPicture(let name): asked = name
    default: return
    }
    if asked != stream { throw .otherStream(stream) }
  }

  private func action(_ route: SignalingRoute, _ head: RequestHead, by grant: AccessGrant?) -> Action {
    switch route {
    case .page: return .page(head.pageRequest(knownAs: publicAddress?.authority))
    case .viewer: return .viewer(head.pageRequest(knownAs: publicAddress?.authority))
    case .health: return .health(detail: grant != nil)
    case .endpoint(let endpoint, let stream):
      guard head.method == "POST" else {
        return .servers(endpoint, HTTPReply(status: 204, headers: ["Accept-Post": Self.descriptionType]))
      }
      // A viewer that sends nothing asks for our offer; of nothing there is no type to say.
      let open = Action.open(endpoint, stream: stream, by: grant ?? .everybody, client: head.client)
      if endpoint == .whep, head.mediaType == nil, head.contentLength == 0 { return open }
      return wrongType(head, expected: Self.descriptionType) ?? open
    case .session(let endpoint, let id):
      switch head.method {
      case "PATCH" where endpoint == .whep && head.mediaType == Self.descriptionType: return .accept(endpoint, id: id)
      case "PATCH":
        return wrongType(head, expected: Self.fragmentType) ?? .patch(endpoint, id: id, etag: head.entityTag)
      case "DELETE": return .close(endpoint, id: id)
      default: return .find(endpoint, id: id, head.checks)
      }
    case .snapshot: return .snapshot(by: grant ?? .everybody, client: head.client)
    case .wall: return .wall(head.pageRequest(knownAs: publicAddress?.authority))
    case .streams: return .streams(stillRequest(head, grant))
    case .streamPicture(let stream):
      let width = head.query["width"].flatMap { Int($0) } ?? 0
      return .picture(of: stream, width: width, stillRequest(head, grant))
    case .pick(let resource): return .pick(resource, known: head.knownTags)
    case .metrics: return .metrics
    case .freeName: return .freeName
    case .peerNames(let key): return .peerNames(key: key)
    case .reach: return ReachRequest(query: head.query).map { .reach($0) } ?? .reply(.malformedReach)
    case .hub(let dialect):
      guard head.upgrade?.lowercased() == "websocket" else {
        return .reply(
          HTTPReply(
            status: 426, sentence: "This is the hub's address; connect to it by WebSocket.",
            headers: ["Upgrade": "websocket"]))
      }
      return .hub(dialect, query: head.query)
    }
  }

  private func stillRequest(_ head: RequestHead, _ grant: AccessGrant?) -> StillRequest {
    StillRequest(grant: grant ?? .everybody, client: head.client, known: head.knownTags)
  }

  /// The resource that the path names; nil: none.
  private func route(_ head: RequestHead) -> SignalingRoute? {
    switch SignalingRoute(path: head.path) {
    // SkyRTC's clients connect to the bare address of a server.
    case .page where hasHub && head.upgrade?.lowercased() == "websocket": .hub(.skyRTC)
    case .endpoint(.whip, _) where !takesPublications, .session(.whip, _) where !takesPublications: nil
    // A hub has many pictures, and none of its own.
    case .snapshot where takesPublications: nil
    case .wall where !takesPublications, .streams where !takesPublications, .streamPicture where !takesPublications: nil
    case .pick where !hasPicker: nil
    case let route? where hasHub || !route.needsHub: route
    default: nil
    }
  }

  /// Headers of every response.
  package static let commonHeaders: [HTTPHeader] = [
    .init(name: "Access-Control-Allow-Origin", value: "*"),
    .init(
      name: "Access-Control-Expose-Headers", value: "Location, ETag, Link, Accept-Patch, Retry-After, RTCast-Diagnosis"),
    .init(name: "X-Content-Type-Options", value: "nosniff"),
  ]

  /// Refuses two ways in which a foreign web site could make a visitor's browser fetch from this machine or its
  /// network: a DNS name that the site points at this server's address (DNS rebinding), and a plain cross-origin
  /// request. If a secret is required, only a server on loopback checks the name, and none checks the origin.
  private func refusalOfSource(_ head: RequestHead) -> HTTPReply? {
    if isLoopback || gate.isOpen {
      guard let host = head.authority.flatMap({ HostName.split(authority: $0) })?.host else {
        return HTTPReply(status: 400, sentence: "The request has no usable Host header.")
      }
      // A page of a foreign site can send either header, but not change that of the browser or of the proxy.
      let stated = head.statedHost.flatMap { HostName.split(authority: $0) }?.host
      for host in [host, stated].compactMap(\.self)
      where !host.isAddress && !host.isLoopback && !names.contains(host) {
        return HTTPReply(
          status: 403,
          sentence: "This server is not known as \(host.text); open it by its IP address, or start it with "
            + "--host-name \(host.text) or, behind a proxy, with --public-url."
        )
      }
    }
    guard gate.isOpen, let origin = head.origin, !origins.contains("*"), !origins.contains(origin.lowercased()),
      !isOwn(origin, head)
    else { return nil }
    return HTTPReply(
      status: 403, sentence: "Without a token this server can be used from its own pages only, not from \(origin).")
  }

  /// Whether the origin is this server's: scheme, host and port of the request's address (RFC 6454 §4). A proxy in
  /// front of this server, known by the server's names, may terminate TLS.
  private func isOwn(_ origin: String, _ head: RequestHead) -> Bool {
    guard let page = WebAddress(origin), page.target == "/" else { return false }
    if let publicAddress, page.hasSameOrigin(as: publicAddress.web) { return true }
    guard let authority = head.statedHost ?? head.authority,
      let own = WebAddress("\(page.scheme.rawValue)://\(authority)")
    else { return false }
    let isScheme = page.scheme == head.statedScheme ?? (isSecure ? .https : .http) || proxyNames.contains(page.host)
    return isScheme && page.hasSameOrigin(as: own)
  }

  private func wrongType(_ head: RequestHead, expected: String) -> Action? {
    guard head.mediaType != expected else { return nil }
    return .reply(
      HTTPReply(status: 415, sentence: "The body must be \(expected).", headers: ["Accept": expected]))
  }

  /// ICE servers with credentials are only for admitted clients, and not for preflights, which carry no credential (RFC
  /// 9725 §4.6).
  private func options(_ route: SignalingRoute, _ head: RequestHead, isAdmitted: Bool) -> Action {
    let methods = route.methods.joined(separator: ", ")
    var reply = HTTPReply(
      status: 204,
      headers: [
        "Allow": methods, "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, RTCast-Client, RTCast-Checks",
        "Access-Control-Max-Age": "86400",
      ])
    switch route {
    case .endpoint(let endpoint, _):
      reply.add("Accept-Post", Self.descriptionType)
      if isAdmitted, head.requestedMethod == nil { return .servers(endpoint, reply) }
    case .session: reply.add("Accept-Patch", Self.fragmentType)
    case .page, .viewer, .health, .snapshot, .wall, .streams, .streamPicture, .pick, .metrics, .freeName, .peerNames,
      .reach, .hub:
      break
    }
    return .reply(reply)
  }
}
