import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The opening handshake of a WebSocket client (RFC 6455 §4.1). The WebSocket replaces it in the turn of the loop that
/// brings the response: NIO's own does so a turn later, and loses the messages of a server that sends and closes at
/// once.
final class WebSocketHandshake<Owner>: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let request: String
  private let upgrader: NIOTypedWebSocketClientUpgrader<NIOLoopBound<Owner>>
  private let promise: EventLoopPromise<NIOLoopBound<Owner>>
  private var reader = HTTPResponseHeadReader()
  private var received = ByteBuffer()
  private var isDone = false

  /// - Parameters:
  ///   - target: path and query, as the request line has them.
  ///   - host: the value of the `Host` field.
  ///   - upgrader: adds the WebSocket.
  ///   - promise: succeeds with what `upgrader` made; fails when the server does not take the handshake.
  init(
    target: String, host: String, _ upgrader: NIOTypedWebSocketClientUpgrader<NIOLoopBound<Owner>>,
    _ promise: EventLoopPromise<NIOLoopBound<Owner>>
  ) {
    var fields = HTTPHeaders([
      ("Host", host), ("User-Agent", "rtcast"), ("Connection", "Upgrade"), ("Upgrade", "websocket"),
    ])
    upgrader.addCustom(upgradeRequestHeaders: &fields)
    request = "GET \(target) HTTP/1.1\r\n" + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    self.upgrader = upgrader
    self.promise = promise
  }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    do {
      while let head = try reader.read(&received) {
        // Interim responses are ignored (RFC 9110 §15.2).
        if head.status.code < 200, head.status != .switchingProtocols { continue }
        return try take(head, context)
      }
    } catch { fail(error) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error)
    context.fireErrorCaught(error)
  }

  private func take(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) throws {
    guard head.status == .switchingProtocols else { throw HubDialing.NoUpgrade(status: Int(head.status.code)) }
    guard
      head.headers[canonicalForm: "upgrade"].contains(where: { $0.lowercased() == "websocket" }),
      head.headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" }),
      // The request asked for none.
      head.headers["sec-websocket-extensions"].isEmpty, head.headers["sec-websocket-protocol"].isEmpty,
      upgrader.shouldAllowUpgrade(upgradeResponse: head)
    else { throw NIOHTTPClientUpgradeError.responseProtocolNotFound }
    isDone = true
    upgrader.upgrade(channel: context.channel, upgradeResponse: head).cascade(to: promise)
    if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private func fail(_ error: any Error) {
    isDone = true
    promise.fail(error)
  }
}
