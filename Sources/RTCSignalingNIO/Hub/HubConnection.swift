import NIOCore
import NIOWebSocket
import RTCSignaling

/// One client's WebSocket connection to the hub. Lives on the server's event loop and nowhere else.
final class HubConnection: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private enum Phase {
    case open
    /// Our close frame is out; the client has this long to answer it.
    case closing(Scheduled<Void>)
    case closed
  }

  /// For a client to take what is on its way and answer our close frame.
  private static let closeGrace = TimeAmount.seconds(2)

  private let host: HubHost
  private let dialect: HubDialect
  private let query: [String: String]
  private var context: ChannelHandlerContext?
  private var id = HubConnectionID(0)
  private var phase = Phase.open
  private var parting = HubParting.lost

  init(host: HubHost, dialect: HubDialect, query: [String: String]) {
    self.host = host
    self.dialect = dialect
    self.query = query
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    id = host.admit(self)
    host.opened(id, dialect, query)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) { finish() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text:
      guard case .open = phase else { return }
      host.handle(.received(id, Array(frame.unmaskedData.readableBytesView)))
    case .binary: host.handle(.unreadable(id, .notText))
    case .ping:
      host.handle(.heard(id))
      // Whoever asks faster than it listens gets no answer, or the answers would pile up here.
      guard case .open = phase, context.channel.isWritable else { return }
      write(.pong, frame.unmaskedData)
    case .pong: host.handle(.heard(id))
    case .connectionClose:
      var data = frame.unmaskedData
      let code = data.readWebSocketErrorCode()
      if code == nil || code == .normalClosure || code == .goingAway { parting = .goodbye }
      if case .open = phase {
        var echo = ByteBuffer()
        if let code { echo.write(webSocketErrorCode: code) }
        write(.connectionClose, echo)
      }
      context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
      NIOWebSocketFrameAggregator.Error.tooManyFragments:
      host.handle(.unreadable(id, .tooLarge(limit: host.limits.messageBytes)))
    case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error:
      host.handle(.unreadable(id, .malformed("the WebSocket framing is broken")))
    default: context.close(promise: nil)
    }
  }

  // MARK: What the hub asks for

  func send(_ text: String) {
    guard case .open = phase, let context else { return }
    let bytes = text.utf8.count
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { _ in self.host.handle(.drained(self.id, bytes: bytes)) }
    write(.text, ByteBuffer(string: text), written)
  }

  func ping() { write(.ping, ByteBuffer()) }

  /// After what was sent before.
  func close(code: UInt16, reason: String) {
    guard case .open = phase, let context else { return }
    var data = ByteBuffer()
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
    // A control frame holds 125 bytes; sentences are cut at a character's end.
    var short = reason
    while short.utf8.count > 123 { short.removeLast() }
    data.writeString(short)
    write(.connectionClose, data)
    phase = .closing(
      context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeGrace) { self.abort() })
  }

  func abort() { context?.close(promise: nil) }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
    guard let context else { return }
    context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: promise)
  }

  private func finish() {
    switch phase {
    case .closed: return
    case .closing(let timer): timer.cancel()
    case .open: break
    }
    phase = .closed
    host.gone(id, parting)
  }
}
