import NIOCore
import NIOHTTP1
import NIOPosix
import RTCDTLS
import RTCSignalingNIO
import Synchronization

/// An HTTP server that answers as its script says, the worse the better.
final class ScriptedServer: Sendable {
  struct Request: Sendable {
    var method: String
    var path: String
    var headers: HTTPHeaders
    var body: String
  }

  enum Act: Sendable {
    case reply(UInt, [(String, String)] = [], body: String = "")
    /// Bytes as they are, then the end of the connection.
    case raw(String)
    /// The answer, with an end of TLS without close_notify.
    case cutOff(String)
    /// Never answers.
    case silence
    /// A head, then a body that never ends.
    case drip
    case hangUp
  }

  let port: Int
  private let listener: any Channel
  private let log: Log

  private final class Log: Sendable {
    let requests = Mutex<[Request]>([])
  }

  var requests: [Request] { log.requests.withLock { $0 } }

  func url(_ path: String, scheme: String = "http", host: String = "127.0.0.1") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  init(tls: TLSIdentity? = nil, _ script: @escaping @Sendable (Request) -> Act) async throws {
    let log = Log()
    self.log = log
    let tls = try tls.map { try TLSContext.server($0) }
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(TLSHandler(TLSSession(tls))) }
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(
            Player { request in
              log.requests.withLock { $0.append(request) }
              return script(request)
            })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
  }

  func close() async { try? await listener.close() }

  private final class Player: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let script: (Request) -> Act
    private var head: HTTPRequestHead?
    private var body = ""

    init(_ script: @escaping (Request) -> Act) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        self.head = head
        body = ""
      case .body(let part): body += String(buffer: part)
      case .end:
        guard let head else { return }
        play(
          script(Request(method: head.method.rawValue, path: head.uri, headers: head.headers, body: body)), context)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func play(_ act: Act, _ context: ChannelHandlerContext) {
      switch act {
      case .reply(let status, let headers, let text):
        var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: Int(status)))
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        if status != 204 { head.headers.replaceOrAdd(name: "Content-Length", value: String(text.utf8.count)) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !text.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      case .raw(let text), .cutOff(let text):
        let pipeline = context.pipeline.syncOperations
        // From the encoder's own place in the pipeline, that is, past it.
        guard let encoder = try? pipeline.context(handlerType: HTTPResponseEncoder.self) else { return }
        encoder.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
        if case .cutOff = act, let tls = try? pipeline.context(handlerType: TLSHandler.self) {
          tls.close(promise: nil)
        } else {
          encoder.close(promise: nil)
        }
      case .silence: break
      case .drip:
        let head = HTTPResponseHead(
          version: .http1_1, status: .created,
          headers: ["Content-Type": "application/sdp", "Location": "/r", "Content-Length": "100000"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        drip(context)
      case .hangUp: context.close(promise: nil)
      }
    }

    private func drip(_ context: ChannelHandlerContext) {
      guard context.channel.isActive else { return }
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "v")))), promise: nil)
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { self.drip(context) }
    }
  }
}
