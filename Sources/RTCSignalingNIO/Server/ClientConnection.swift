import NIOCore
import NIOHTTP1
import NIOWebSocket
import RTCPrimitives
import RTCSignaling

/// One client's connection: takes one request at a time and sees to it that each phase has an end. Lives on the server's
/// event loop and nowhere else.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  struct Exchange {
    /// For the log.
    var name: String
    var action: RequestRouter.Action
    /// The path of the request, as the server's own paths name it.
    var path: String
    var isHead: Bool
    var keepsAlive: Bool
    /// The viewer page asks: it opens the page of another hub by itself.
    var isPage: Bool
    /// The address of the request is known to be the client's own, and not that of a proxy.
    var isFromClient: Bool
  }

  private enum Phase {
    /// No byte of the next request has arrived.
    case idle
    /// Bytes are here, the head is not whole.
    case arriving
    /// The head is whole, the body is not; so many bytes of it came.
    case reading(Exchange, count: Int)
    /// The cast was asked; the number distinguishes its answer from a late one.
    case waiting(Exchange, number: UInt64)
    case answering
    /// The answer that ends the connection is out; the client may still be sending.
    case lingering
    case closed
  }

  let registry: ConnectionRegistry
  private(set) var context: ChannelHandlerContext?
  private var phase = Phase.idle
  private var body = ByteBuffer()
  private var timer: Scheduled<Void>?
  private var questionNumber: UInt64 = 0
  /// The client's address in the PROXY protocol.
  private var told: String?
  /// The address of the client of the present request.
  private(set) var remote = ""
  /// The client's own address if `remote` is that of a proxy on this machine; nil: unknown.
  private var place: IPAddress?
  /// A request was answered.
  private var hasAnswered = false
  /// The work on an offer, which nobody wants any longer when its client has left.
  private var offer: Task<Void, Never>?

  init(registry: ConnectionRegistry) { self.registry = registry }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    switch registry.admit(self, from: context.channel.clientAddress) {
    case .welcome: arm(registry.limits.firstByteTimeout)
    case .crowded:
      answer(.crowded, isHead: false, thenLinger: true)
    // By TLS the telling would cost a handshake.
    case .refused: if registry.isSecure { close() } else { answer(.crowded, isHead: false, thenLinger: false) }
    }
  }

  /// A trusted proxy says whose connection it is.
  /// - Returns: false when the client has too many, and this one is sent away.
  func comes(from address: String) -> Bool {
    told = address
    guard !registry.move(self, to: address) else { return true }
    // By TLS the telling would cost a handshake.
    if registry.isSecure { close() } else { answer(.crowded, isHead: false, thenLinger: true) }
    return false
  }

  /// The address of the client of a connection, possibly behind a proxy.
  func address(of channel: any Channel) -> String { told ?? channel.clientAddress }

  func channelInactive(context: ChannelHandlerContext) {
    phase = .closed
    timer?.cancel()
    timer = nil
    offer?.cancel()
    registry.forget(self)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The request itself follows, and gets its answer.
    if error is NIOWebSocketUpgradeError { return }
    switch phase {
    case .idle, .arriving, .reading:
      guard let fault = error as? HTTPParserError else { return close() }
      let reply = fault == .headerOverflow ? HTTPReply.headTooLarge : .malformedRequest
      answer(reply, isHead: false, thenLinger: true)
    case .waiting, .answering: close()
    case .lingering, .closed: break
    }
  }

  // MARK: The request

  func bytesArrived() {
    guard case .idle = phase else { return }
    phase = .arriving
    arm(registry.limits.requestTimeout)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      switch phase {
      case .idle, .arriving: begin(head)
      case .lingering, .closed: break
      case .reading, .waiting, .answering: close()  // a client must not send the next request before our answer
      }
    case .body(let part):
      guard case .reading(let exchange, let count) = phase else { return }
      take(part, of: exchange, count: count)
    case .end:
      guard case .reading(let exchange, _) = phase else { return }
      perform(exchange)
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    let peer = context.map { address(of: $0.channel) } ?? ""
    let request = registry.head(head, from: peer)
    guard let client = registry.client(of: peer, head) else {
      return answer(.contradictoryProxy, isHead: head.method == .HEAD, thenLinger: true)
    }
    remote = client
    place = ProxiedPlace.of(remote, host: request.host, head.headers)
    let exchange = Exchange(
      name: "\(request.method) \(request.publicPath)",
      action: registry.evaluate(request, from: remote),
      path: String(request.path),
      isHead: head.method == .HEAD,
      keepsAlive: head.version == .http1_1 && head.isKeepAlive && !registry.endsConnections(from: peer, head),
      isPage: head.headers.contains(name: "RTCast-Page"),
      isFromClient: registry.isTrustedProxy(peer) || !registry.hasProxy(head))
    body.clear()
    phase = .reading(exchange, count: 0)
    if request.contentLength ?? 0 > registry.limits.bodyBytes {
      answer(.tooLarge, isHead: exchange.isHead, thenLinger: true)
    } else if request.expectsContinue {
      if case .reply(let refusal) = exchange.action {
        answer(refusal, isHead: exchange.isHead, thenLinger: true)
      } else {
        context?.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
      }
    }
  }

  private func take(_ part: ByteBuffer, of exchange: Exchange, count: Int) {
    let count = count + part.readableBytes
    guard count <= registry.limits.bodyBytes else {
      return answer(.tooLarge, isHead: exchange.isHead, thenLinger: true)
    }
    phase = .reading(exchange, count: count)
    if exchange.action.readsBody { body.writeImmutableBuffer(part) }
  }

  private func perform(_ exchange: Exchange) {
    let text = String(validating: body.readableBytesView, as: UTF8.self)
    body = ByteBuffer()
    switch exchange.action {
    case .reply(let reply): answer(reply, exchange)
    case .page(let request): answer(registry.frontPage(request), exchange)
    case .viewer(let request): answer(registry.viewerPage(request), exchange)
    case .health(let detail):
      let counters = registry.hub?.counters
      let sessions = registry.sessions
      ask(exchange) { .reply(.health(await sessions.status(), hub: counters, detail: detail)) }
    case .snapshot(let grant, let client):
      let sessions = registry.sessions
      show(nil, to: grant, client: client, exchange) { .snapshot(await sessions.snapshot()) }
    case .wall(let request): answer(registry.wallPage(request), exchange)
    case .streams(let request): list(request, exchange)
    case .picture(let stream, let width, let request): show(stream, width: width, request, exchange)
    case .pick(let resource, let known): pick(resource, known: known, text: text, exchange)
    case .metrics:
      let (counters, refusals, sessions) = (registry.hub?.counters, registry.refusals, registry.sessions)
      let turn = registry.turn
      ask(exchange) {
        let figures = await sessions.metrics() + (await turn?.metrics() ?? [])
        return .reply(.metrics(await sessions.status(), figures, hub: counters, refusals: refusals))
      }
    case .freeName: answer(.freeName(HubHost.freshName()), exchange)
    case .peerNames(let key):
      answer(
        .peerNames(registry.hub?.peerNames(showing: key, from: remote)), exchange)
    case .reach(let request): reach(request, exchange)
    case .hub:
      // Only the first request of a connection can change its protocol, and not with a malformed key or version.
      answer(
        HTTPReply(
          status: 400, sentence: "The WebSocket handshake is malformed, or not the connection's first request."),
        exchange)
    case .open(let endpoint, let stream, let grant, let client):
      guard let text else { return answer(.refusal(.malformedOffer("it is not UTF-8 text")), exchange) }
      open(Opening(endpoint: endpoint, stream: stream, offer: text, grant: grant, client: client), exchange)
    case .accept(let endpoint, let id):
      guard let text, !text.isEmpty else {
        return answer(.refusal(.unusableAnswer("it is empty or no text")), exchange)
      }
      amend(endpoint, exchange) { sessions throws(WHEPRefusal) in
        try await sessions.accept(id: id, answer: text)
        return .patched(.noContent)
      }
    case .find(let endpoint, let id, let checks):
      amend(endpoint, exchange) { sessions throws(WHEPRefusal) in
        var diagnosis: String?
        if let checks { diagnosis = await sessions.diagnosis(of: id, checks: checks) }
        return .found(etag: await sessions.etag(of: id), diagnosis: diagnosis)
      }
    case .servers(let endpoint, let reply):
      amend(endpoint, exchange) { sessions throws(WHEPRefusal) in reply.linking(sessions.iceServers) }
    case .patch(let endpoint, let id, let etag):
      guard let text, !text.isEmpty else {
        return answer(.refusal(.malformedFragment(text == nil ? "it is not UTF-8 text" : "it is empty")), exchange)
      }
      amend(endpoint, exchange) { sessions throws(WHEPRefusal) in
        .patched(try await sessions.patch(id: id, fragment: text, etag: etag))
      }
    case .close(let endpoint, let id):
      amend(endpoint, exchange) { sessions throws(WHEPRefusal) in .closed(await sessions.close(id: id)) }
    }
  }

  // MARK: The cast's part

  enum Outcome: Sendable {
    case reply(HTTPReply)
    case opened(WHEPAnswer, Opening, [ICEServer])
    /// The offer was refused, and its grant is not used.
    case unopened(WHEPRefusal, Opening)
    /// The grant cannot be used.
    case refused(AccessRefusal, AuditEvent)
    /// A picture of a stream, or of the cast, which the grant was used for.
    case shown(HTTPReply, of: String?, by: AccessGrant, to: String)
  }

  /// An offer, and by what right it came.
  struct Opening: Sendable {
    var endpoint: SignalingEndpoint
    var stream: String?
    var offer: String
    var grant: AccessGrant
    var client: String?
    /// The use of the link that was counted.
    var counted: AccessGate.CountedUse?
  }

  /// Requests other than offers; the target decides the reply.
  private func amend(
    _ endpoint: SignalingEndpoint, _ exchange: Exchange,
    _ question: @escaping @Sendable (any OfferSessions) async throws(WHEPRefusal) -> HTTPReply
  ) {
    guard let sessions = registry.sessions(at: endpoint) else { return }
    ask(exchange) {
      do throws(WHEPRefusal) { return .reply(try await question(sessions)) } catch { return .reply(.refusal(error)) }
    }
  }

  private func open(_ asked: Opening, _ exchange: Exchange) {
    guard let sessions = registry.sessions(at: asked.endpoint) else { return }
    if asked.endpoint == .whep, let place = registry.sessions.place(of: asked.stream) {
      return answer(.elsewhere(place, path: "whep/", isPage: exchange.isPage), exchange)
    }
    guard registry.beginOffer() else { return answer(.busy, exchange) }
    let (gate, remote, place) = (registry.gate, remote, place)
    ask(exchange, isOffer: true) {
      var opening = asked
      do throws(AccessRefusal) {
        opening.counted = try await gate.count(asked.grant, client: asked.client, now: .now)
      } catch { return .refused(error, AuditEvent(error, asked, from: remote)) }
      do throws(WHEPRefusal) {
        let opened =
          opening.offer.isEmpty
          ? try await sessions.offer(stream: opening.stream, remote: remote, place: place)
          : try await sessions.open(
            stream: opening.stream, offer: opening.offer, remote: remote, place: place)
        return .opened(opened, opening, sessions.iceServers)
      } catch {
        return .unopened(error, opening)
      }
    }
  }

  func ask(
    _ exchange: Exchange, isOffer: Bool = false, _ question: @escaping @Sendable () async -> Outcome
  ) {
    guard let loop = context?.eventLoop else { return }
    if !isOffer { registry.beginQuestion() }
    questionNumber += 1
    let number = questionNumber
    phase = .waiting(exchange, number: number)
    arm(registry.limits.answerTimeout)
    let connection = NIOLoopBound(self, eventLoop: loop)
    let task = Task {
      let outcome = await question()
      loop.execute { connection.value.answered(number, outcome, isOffer: isOffer) }
    }
    if isOffer { offer = task }
  }

  private func answered(_ number: UInt64, _ outcome: Outcome, isOffer: Bool) {
    registry.endQuestion(isOffer: isOffer)
    if number == questionNumber { offer = nil }
    switch outcome {
    case .unopened(_, let opening): giveBack(opening)
    case .refused(_, let event): registry.audit(event)
    case .shown(_, let stream, let grant, let remote): auditPicture(of: stream, by: grant, from: remote)
    case .reply, .opened: break
    }
    guard case .waiting(let exchange, number) = phase else {
      // The client has gone, so the session is closed.
      if case .opened(let answer, let opening, _) = outcome { abandon(answer, opening) }
      return
    }
    switch outcome {
    case .reply(let reply), .shown(let reply, _, _, _): answer(reply, exchange)
    case .unopened(let refusal, _): answer(.refusal(refusal), exchange)
    case .refused(let refusal, _): answer(.refusal(refusal), exchange)
    case .opened(let opened, let opening, let servers):
      // The link may have been revoked, or have ended, while the cast was asked.
      do throws(AccessRefusal) { try registry.gate.recheck(opening.grant, now: .now) } catch {
        abandon(opened, opening)
        registry.audit(AuditEvent(error, opening, from: remote))
        return answer(.refusal(error), exchange)
      }
      registry.audit(
        AuditEvent(
          .admitted, right: opening.endpoint.right, by: opening.grant.credential, from: remote, name: opening.stream))
      if let use = opening.counted { registry.gate.keep(use, now: .now) }
      registry.noteSession(opened.id, at: opening.endpoint, by: opening.grant, client: opening.client)
      answer(.opened(opened, at: opening.endpoint, path: exchange.path, iceServers: servers), exchange)
    }
  }

  private func auditPicture(of stream: String?, by grant: AccessGrant, from remote: String) {
    if let stream { return registry.auditPicture(of: stream, by: grant, from: remote) }
    registry.audit(AuditEvent(.admitted, right: .watch, by: grant.credential, from: remote, name: "snapshot.webp"))
  }

  private func giveBack(_ opening: Opening) {
    if let use = opening.counted { registry.gate.giveBack(use, now: .now) }
  }

  /// Ends an opened session without a client.
  private func abandon(_ answer: WHEPAnswer, _ opening: Opening) {
    giveBack(opening)
    guard let sessions = registry.sessions(at: opening.endpoint) else { return }
    Task { await sessions.close(id: answer.id) }
  }

  // MARK: The answer

  private enum Ending { case keep, close, linger }

  func answer(_ reply: HTTPReply, _ exchange: Exchange) {
    let ending = exchange.keepsAlive && registry.isOpen ? Ending.keep : .close
    hasAnswered = true
    registry.logger.debug("\(exchange.name): \(reply.status)")
    write(reply, isHead: exchange.isHead, ending)
  }

  /// Answers a request that has not been read to its end, or is not to be.
  private func answer(_ reply: HTTPReply, isHead: Bool, thenLinger: Bool) {
    stopReading()
    write(reply, isHead: isHead, thenLinger ? .linger : .close)
  }

  private func write(_ reply: HTTPReply, isHead: Bool, _ ending: Ending) {
    guard let context else { return }
    phase = .answering
    arm(registry.limits.requestTimeout)
    var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status))
    for header in registry.commonHeaders + reply.headers {
      head.headers.add(name: header.name, value: header.value)
    }
    if reply.status != 204, reply.status != 304 {
      head.headers.replaceOrAdd(name: "Content-Length", value: String(reply.body.count))
    }
    if ending != .keep { head.headers.replaceOrAdd(name: "Connection", value: "close") }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !isHead, !reply.body.isEmpty {
      context.write(
        wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: reply.body)))), promise: nil)
    }
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in self.wrote(ending) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
  }

  private func wrote(_ ending: Ending) {
    guard case .answering = phase else { return }
    switch ending {
    case .keep where registry.isOpen:
      phase = .idle
      arm(registry.limits.idleTimeout)
    case .keep, .close: close()
    case .linger:
      phase = .lingering
      context?.close(mode: .output, promise: nil)
      arm(registry.limits.lingerTimeout)
    }
  }

  private func stopReading() {
    try? context?.channel.syncOptions?.setOption(.autoRead, value: false)
  }

  // MARK: Ends

  /// The hub takes the connection over.
  func handOver() {
    phase = .closed
    timer?.cancel()
    timer = nil
    registry.forget(self)
  }

  private func arm(_ milliseconds: Int64) {
    timer?.cancel()
    timer = context?.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { self.expire() }
  }

  private func expire() {
    switch phase {
    case .arriving, .reading: answer(.tooSlow, isHead: false, thenLinger: true)
    case .waiting(let exchange, _):
      offer?.cancel()
      answer(.noAnswer, exchange)
    case .idle, .answering, .lingering: close()
    case .closed: break
    }
  }

  /// The server shuts down: leaves at once if nothing is going on, else after the answer.
  func drain() {
    switch phase {
    case .idle, .arriving, .reading, .lingering: close()
    case .waiting, .answering, .closed: break
    }
  }

  func abort() { close() }

  /// It has no reply yet, and none is being made.
  var isUnfinished: Bool {
    switch phase {
    case .idle, .arriving, .reading: !hasAnswered
    case .waiting, .answering, .lingering, .closed: false
    }
  }

  private func close() {
    context?.close(promise: nil)
  }
}

extension AuditEvent {
  /// The refusal of an offer.
  fileprivate init(_ refusal: AccessRefusal, _ opening: ClientConnection.Opening, from remote: String) {
    self.init(
      refusal, right: opening.endpoint.right, by: opening.grant.credential, from: remote, name: opening.stream)
  }
}

extension RequestHead {
  init(_ head: HTTPRequestHead) {
    let headers = head.headers
    let checks = headers.first(name: ViewerChecks.requestHeader).map { ViewerChecks(parsing: $0) }
    self.init(
      method: head.method.rawValue, target: head.uri, host: headers.first(name: "Host"),
      origin: headers.first(name: "Origin"), authorization: headers.first(name: "Authorization"),
      contentType: headers.first(name: "Content-Type"),
      contentLength: headers.first(name: "Content-Length").flatMap { Int($0) },
      ifMatch: headers.first(name: "If-Match"), ifNoneMatch: headers.first(name: "If-None-Match"),
      acceptEncoding: headers.first(name: "Accept-Encoding"),
      expectsContinue: headers.first(name: "Expect")?.lowercased() == "100-continue",
      upgrade: headers.first(name: "Upgrade"),
      requestedMethod: headers.first(name: "Access-Control-Request-Method"),
      client: headers.first(name: "RTCast-Client"))
    self.checks = checks
  }
}
