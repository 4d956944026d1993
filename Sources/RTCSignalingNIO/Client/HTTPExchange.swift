import NIOCore
import NIOHTTP1
import NIOPosix
import RTCDTLS
import RTCSignaling

/// One HTTP/1.1 request and its response, on a connection of its own (RFC 9112). Follows no redirects, and ignores
/// proxies in the environment.
struct HTTPExchange: Sendable {
  struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: ByteBuffer
  }

  enum Failure: Error {
    /// The deadline has come.
    case timeout
    /// A time-out during the TLS handshake.
    case handshakeTimeout
    /// The answer's body is longer than `bodyLimit`.
    case bodyTooLong
    /// The connection ended before the answer did.
    case ended
  }

  let address: WebAddress
  var method = HTTPMethod.GET
  /// Besides `Host`, `Connection`, `User-Agent` and `Content-Length`.
  var headers = HTTPHeaders()
  var body: ByteBuffer?
  /// For all of it, from the host's name to the answer's last byte.
  var timeout = TimeAmount.seconds(10)
  /// Bytes of the answer's body.
  var bodyLimit = 262_144
  /// PEM with the certificates to trust; nil for those the system trusts.
  var trustRootsFile: String?

  init(_ address: WebAddress) { self.address = address }

  /// - Throws: `Failure`, `CancellationError`, and what sockets, TLS and the HTTP parser throw.
  func perform(on eventLoop: any EventLoop) async throws -> Answer {
    let tls = try address.scheme == .https ? TLSContext.client(trusting: trustRootsFile) : nil
    let promise = eventLoop.makePromise(of: Answer.self)
    return try await withTaskCancellationHandler {
      try await eventLoop.flatSubmit {
        connect(tls, promise, on: eventLoop)
        return promise.futureResult
      }.get()
    } onCancel: {
      promise.fail(CancellationError())
    }
  }

  /// On the loop.
  private func connect(_ tls: TLSContext?, _ promise: EventLoopPromise<Answer>, on eventLoop: any EventLoop) {
    let progress = NIOLoopBound(Progress(isSecured: tls == nil), eventLoop: eventLoop)
    let alarm = eventLoop.scheduleTask(in: timeout) {
      promise.fail(progress.value.isHandshaking ? Failure.handshakeTimeout : Failure.timeout)
    }
    promise.futureResult.whenComplete { _ in alarm.cancel() }
    ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(TLSHandler(TLSSession(tls, to: TLSHost(address.host)))) }
          try pipeline.addHTTPClientHandlers()
          try pipeline.addHandler(AnswerReader(self, progress.value, promise))
        }
      }
      .connect(host: address.host.text, port: Int(address.port ?? (tls == nil ? 80 : 443)))
      .whenComplete { result in
        switch result {
        case .failure(let error): promise.fail(error)
        case .success(let channel): promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        }
      }
  }

  private var head: HTTPRequestHead {
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: address.target, headers: headers)
    head.headers.add(name: "Host", value: address.host.inURL + (address.port.map { ":\($0)" } ?? ""))
    head.headers.add(name: "User-Agent", value: "rtcast")
    head.headers.add(name: "Connection", value: "close")
    if let body { head.headers.add(name: "Content-Length", value: String(body.readableBytes)) }
    return head
  }

  // MARK: - One connection

  /// How far it has come; the loop's.
  private final class Progress {
    var isConnected = false
    var isSecured: Bool

    init(isSecured: Bool) { self.isSecured = isSecured }

    var isHandshaking: Bool { isConnected && !isSecured }
  }

  /// Sends the request and gathers the answer.
  private final class AnswerReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: HTTPExchange
    private let progress: Progress
    private let promise: EventLoopPromise<Answer>
    private var answer: Answer?

    init(_ exchange: HTTPExchange, _ progress: Progress, _ promise: EventLoopPromise<Answer>) {
      self.exchange = exchange
      self.progress = progress
      self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
      progress.isConnected = true
      context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
      if let body = exchange.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event is TLSHandler.HandshakeCompleted { progress.isSecured = true }
      context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        answer = Answer(status: Int(head.status.code), headers: head.headers, body: ByteBuffer())
      case .body(var part):
        guard let length = answer?.body.readableBytes, length + part.readableBytes <= exchange.bodyLimit else {
          return promise.fail(Failure.bodyTooLong)
        }
        answer?.body.writeBuffer(&part)
      case .end:
        if let answer { promise.succeed(answer) }
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      promise.fail(Failure.ended)
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }
  }
}
