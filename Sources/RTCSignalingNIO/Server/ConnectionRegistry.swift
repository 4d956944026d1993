import Glibc
import Logging
import NIOCore
import NIOHTTP1
import RTCDTLS
import RTCPrimitives
import RTCSignaling

/// The shared state of one server's connections. Lives on the server's event loop only.
final class ConnectionRegistry {
  /// The access control.
  let gate: AccessGate
  private let router: RequestRouter
  let limits: ServerLimits
  let sessions: any WHEPSessions
  private let publications: (any OfferSessions)?
  let logger: Logger
  let isSecure: Bool
  /// Headers of every response.
  let commonHeaders: [HTTPHeader]
  private let front: ServedPage
  private let viewer: ServedPage
  /// The page that shows all streams; nil: there are none.
  private let wall: ServedPage?
  /// Nil: there is no page on which a caster picks a source.
  let picker: (any SourcePicker)?
  /// Nil when the server has no hub.
  let hub: HubHost?
  /// Nil when the hub has no TURN server.
  let turn: TURNHost?

  private let eventLoop: any EventLoop
  private let trustedProxies: [AddressPrefix]
  private var connections = ConnectionTable<ClientConnection>()
  private var crowdWarning = RepeatedWarning()
  private let auditLog: @Sendable (AuditEvent) -> Void
  private var reachLimiter = ReachLimiter()
  private var wrongTokenWarning = RepeatedWarning()
  /// When a picture of a stream that was sent was last recorded, by stream and client.
  private var recordedPictures: [RecordedPicture: Timestamp] = [:]
  /// The number of pending questions to the cast, and how many of them are offers.
  private var questions = 0
  private var waitingOffers = 0
  private var state = State.open
  /// Sessions that were opened by a signed link, by their names.
  private var linkedSessions: [String: LinkedSession] = [:]

  /// The number at which ended sessions are removed.
  private var sweepAt = 64

  private struct LinkedSession {
    var endpoint: SignalingEndpoint
    var link: String
    /// The client's identifier, if the link has limited uses.
    var client: String?
    /// Closes it when the link's time is over.
    var end: Scheduled<Void>?
  }

  private struct RecordedPicture: Hashable {
    var stream: String
    var address: String
    var credential: AuditEvent.Credential
  }

  private enum State {
    case open
    case draining(EventLoopPromise<Bool>)
    case drained
  }

  init(
    _ configuration: SignalingServerConfiguration, sessions: any WHEPSessions, logger: Logger, eventLoop: any EventLoop
  ) {
    let gate = configuration.gate
    self.gate = gate
    isSecure = configuration.tls != nil
    router = RequestRouter(
      listen: configuration.listen, gate: gate, isSecure: isSecure,
      hostNames: configuration.hostNames, hasHub: configuration.hub != nil,
      takesPublications: configuration.publications != nil, hasPicker: configuration.picker != nil,
      origins: configuration.origins, machineNames: [Self.hostName, Self.hostName + ".local"],
      publicAddress: configuration.publicAddress, basePath: configuration.basePath)
    publications = configuration.publications
    hub = configuration.hub.map {
      HubHost(
        $0, gate: gate, presence: configuration.presence, announce: configuration.whenHubChanges, eventLoop: eventLoop)
    }
    turn = configuration.turn
    limits = configuration.limits
    // `clientAddress` gives a client of a Unix socket this machine's address.
    let local = configuration.listen.socketPath == nil ? nil : AddressPrefix(unixClientAddress)
    trustedProxies = configuration.trustedProxies + [local].compactMap(\.self)
    auditLog = configuration.audit
    viewer = ServedPage(ViewerPage.html, ancestors: configuration.frameAncestors)
    wall =
      configuration.publications == nil ? nil : ServedPage(WallPage.html, ancestors: configuration.frameAncestors)
    picker = configuration.picker
    front =
      switch configuration.frontPage {
      case .viewer: viewer
      case .hub(let html), .pick(let html): ServedPage(html, ancestors: configuration.frameAncestors)
      }
    // Browsers ignore it for certificates that they do not trust by default (RFC 6797 §8.1); on this machine, a browser
    // would also require TLS of other servers on localhost.
    let isStrict = configuration.tls?.isVouchedFor == true && !configuration.listen.host.isLoopback
    commonHeaders =
      RequestRouter.commonHeaders
      + (isStrict ? [HTTPHeader(name: "Strict-Transport-Security", value: "max-age=31536000")] : [])
    self.sessions = sessions
    self.logger = logger
    self.eventLoop = eventLoop
    hub?.whenEmptied = { [weak self] in self?.settle() }
    hub?.audit = { [weak self] in self?.audit($0) }
    hub?.whenWrong = { gate.noteWrongTry(from: $0, now: .now) }
    hub?.whenRevoked = { [weak self] link, expires in
      if gate.noteRevoked(link, expires: expires, now: .now) { self?.endAll(of: link) }
    }
  }

  /// A request as the server's own paths and names describe it.
  /// - Parameter address: the address of its connection.
  func head(_ head: HTTPRequestHead, from address: String) -> RequestHead {
    let headers = head.headers
    return router.localized(
      RequestHead(head),
      at: ForwardedAddress.place(
        of: address, forwarded: headers["Forwarded"], forwardedFor: headers["X-Forwarded-For"],
        hosts: headers["X-Forwarded-Host"], schemes: headers["X-Forwarded-Proto"], trusting: trustedProxies))
  }

  /// The action for a request.
  func evaluate(_ head: RequestHead, from address: String) -> RequestRouter.Action {
    router.evaluate(head, from: address, now: .now) { audit($0) }
  }

  /// Notes a decision about access. Wrong tokens have one line a minute in the log, however many come.
  func audit(_ event: AuditEvent) {
    auditLog(event)
    guard event.isWrongToken, let count = wrongTokenWarning.note(DeadlineTimer.now) else { return }
    let address = event.address.isEmpty ? "an unknown address" : event.address
    let more = count > 1 ? ", the last of \(count) since the last such line" : ""
    logger.warning("a wrong token came from \(address)\(more)")
  }

  /// Records that a client gets pictures of a stream, once in ten minutes: a page asks for them again and again.
  func auditPicture(of stream: String, by grant: AccessGrant, from address: String) {
    let key = RecordedPicture(stream: stream, address: address, credential: grant.credential)
    let now = DeadlineTimer.now
    if let last = recordedPictures[key], now - last < Self.pictureRecordInterval { return }
    // More clients than this are recorded again earlier.
    if recordedPictures.count >= 4_096 { recordedPictures = [:] }
    recordedPictures[key] = now
    audit(AuditEvent(.admitted, right: .watch, by: key.credential, from: address, name: stream))
  }

  private static let pictureRecordInterval = TimeDelta.seconds(600)

  func isTrustedProxy(_ address: String) -> Bool { ForwardedAddress.isTrusted(address, trustedProxies) }

  /// The client of a request, by the address of its connection or, if that is a trusted proxy's, by the proxy's
  /// headers; nil if these contradict each other.
  func client(of address: String, _ head: HTTPRequestHead) -> String? {
    guard !trustedProxies.isEmpty else { return address }
    return ForwardedAddress.client(
      of: address, forwarded: head.headers["Forwarded"], forwardedFor: head.headers["X-Forwarded-For"],
      trusting: trustedProxies)
  }

  /// Whether each request gets a connection of its own. Only the first request of a connection can become a WebSocket, and proxies
  /// send requests of several clients on one connection.
  func endsConnections(from address: String, _ head: HTTPRequestHead) -> Bool {
    guard hub != nil else { return false }
    return ClientNetwork(address).isLoopback || isTrustedProxy(address) || hasProxy(head)
  }

  /// Whether a request has come by a proxy, as far as its headers say so.
  func hasProxy(_ head: HTTPRequestHead) -> Bool {
    ["Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"].contains {
      head.headers.contains(name: $0)
    }
  }

  func frontPage(_ request: PageRequest) -> HTTPReply { front.reply(to: request) }

  func viewerPage(_ request: PageRequest) -> HTTPReply { viewer.reply(to: request) }

  func wallPage(_ request: PageRequest) -> HTTPReply { wall?.reply(to: request) ?? .malformedRequest }

  private static var hostName: String {
    var bytes = [UInt8](repeating: 0, count: 256)
    // The call gets the array's size less one, so that a zero stays at its end.
    let isThere = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe gethostname(buffer.baseAddress!.assumingMemoryBound(to: CChar.self), 255)
    }
    return isThere == 0 ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : ""
  }

  // MARK: Sessions by signed links

  /// A session was opened; one by a link ends with it. By a link for so many a client has one session: a new one takes the
  /// place of the one before, or many could share a name.
  func noteSession(_ id: String, at endpoint: SignalingEndpoint, by grant: AccessGrant, client: String?) {
    guard let link = grant.link else { return }
    let client = link.uses == nil ? nil : client
    if let client {
      for (other, session) in linkedSessions where session.link == link.id && session.client == client {
        closeSession(other)
      }
    }
    let end = link.expires.map { expires in
      let seconds = max(0, expires - AccessTime.now.unix)
      return eventLoop.assumeIsolated().scheduleTask(in: .seconds(min(seconds, Self.longestTimer))) {
        self.closeSession(id)
      }
    }
    linkedSessions[id] = LinkedSession(endpoint: endpoint, link: link.id, client: client, end: end)
    forgetSessionsThatEnded()
  }

  /// A year: sessions do not last longer.
  private static let longestTimer: Int64 = 31_536_000

  /// Ends all sessions of a link, and notifies its clients.
  func endAll(of link: String) {
    audit(AuditEvent(.revoked, by: .link(link)))
    hub?.handle(.revoked(link))
    for (id, session) in linkedSessions where session.link == link { closeSession(id) }
  }

  private func closeSession(_ id: String) {
    guard let session = linkedSessions.removeValue(forKey: id), let sessions = sessions(at: session.endpoint) else {
      return
    }
    session.end?.cancel()
    Task { await sessions.close(id: id) }
  }

  /// Now and then: sessions end without a word to this place.
  private func forgetSessionsThatEnded() {
    guard linkedSessions.count >= sweepAt else { return }
    sweepAt = linkedSessions.count * 2
    let known = linkedSessions.compactMap { id, session in sessions(at: session.endpoint).map { (id, $0) } }
    let (loop, registry) = (eventLoop, NIOLoopBound(self, eventLoop: eventLoop))
    Task {
      for (id, sessions) in known where await sessions.etag(of: id) == nil {
        loop.execute { registry.value.linkedSessions.removeValue(forKey: id)?.end?.cancel() }
      }
    }
  }

  /// The number of refusals of viewers and publications.
  var refusals: [RefusalCounts.Subject: UInt64] {
    sessions.refusals.merging(publications?.refusals ?? [:]) { $0 + $1 }
  }

  func sessions(at endpoint: SignalingEndpoint) -> (any OfferSessions)? {
    switch endpoint {
    case .whep: sessions
    case .whip: publications
    }
  }

  // MARK: Connections

  enum Admission {
    case welcome
    /// Over the limit: the client gets a response, then the connection is closed.
    case crowded
    /// So far over the limit that even a response is too expensive.
    case refused
  }

  /// Admits a connection. If there are too many, the oldest unanswered one of the network with most connections is
  /// closed in its place, so that silent connections keep no client out.
  func admit(_ connection: ClientConnection, from address: String) -> Admission {
    guard case .open = state, connections.count < limits.connections + 64 else { return .refused }
    let network = ClientNetwork(address)
    let isExempt = network.isLoopback || isTrustedProxy(address)
    let isOverShare = !isExempt && connections.count(of: network) >= limits.connectionsOfNetwork
    connections.add(connection, of: network)
    if isOverShare {
      warnOfCrowd("\(limits.connectionsOfNetwork) connections of \(network)")
      return .crowded
    }
    guard connections.count > limits.connections else { return .welcome }
    warnOfCrowd("\(limits.connections) connections")
    let leaving = connections.oldestOfBusiest { $0.isUnfinished && $0 !== connection }
    guard let leaving else { return .crowded }
    leaving.abort()
    return .welcome
  }

  /// A proxy has said whose connection it is.
  /// - Returns: false when the client's network has as many as it may.
  func move(_ connection: ClientConnection, to address: String) -> Bool {
    let network = ClientNetwork(address)
    let isOverShare = !network.isLoopback && connections.count(of: network) >= limits.connectionsOfNetwork
    connections.remove(connection)
    connections.add(connection, of: network)
    if isOverShare { warnOfCrowd("\(limits.connectionsOfNetwork) connections of \(network)") }
    return !isOverShare
  }

  /// One line a minute, however many come.
  private func warnOfCrowd(_ limit: String) {
    guard let count = crowdWarning.note(DeadlineTimer.now) else { return }
    let more = count > 1 ? " (\(count) since the last such line)" : ""
    logger.warning("more than \(limit): one was sent away\(more)")
  }

  func forget(_ connection: ClientConnection) {
    connections.remove(connection)
    settle()
  }

  // MARK: Questions

  /// False when as many offers wait for the cast as may.
  func beginOffer() -> Bool {
    guard waitingOffers < limits.waitingOffers else { return false }
    waitingOffers += 1
    questions += 1
    return true
  }

  func beginQuestion() { questions += 1 }

  func endQuestion(isOffer: Bool) {
    questions -= 1
    if isOffer { waitingOffers -= 1 }
    settle()
  }

  /// Whether a client's ports may be tried now; `endReach` follows if so.
  func beginReach(_ network: ClientNetwork) -> Bool { reachLimiter.begin(network, now: DeadlineTimer.now) }

  func endReach() { reachLimiter.end() }

  // MARK: Shutdown

  var isOpen: Bool { if case .open = state { true } else { false } }

  /// Succeeds with true if nothing is left, with false if the cast still owes answers after the grace period.
  func drain() -> EventLoopFuture<Bool> {
    let promise = eventLoop.makePromise(of: Bool.self)
    state = .draining(promise)
    for connection in connections.all { connection.drain() }
    hub?.shutdown()
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(limits.shutdownGrace)) { self.drainByForce() }
    settle()
    return promise.futureResult
  }

  private func drainByForce() {
    for connection in connections.all { connection.abort() }
    hub?.abort()
    guard case .draining(let promise) = state else { return }
    state = .drained
    promise.succeed(questions == 0)
  }

  private func settle() {
    guard case .draining(let promise) = state, connections.isEmpty, questions == 0, hub?.isEmpty != false else {
      return
    }
    state = .drained
    promise.succeed(true)
  }
}
