import NIOCore
import NIOWebSocket
import RTCSignaling

/// One client's WebSocket connection to the hub. Lives on the server's event loop and nowhere else.
final class HubConnection: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let host: HubHost
  private let dialect: HubDialect
  private let query: [String: String]
  private let line = WebSocketLine(masksFrames: false, closeGrace: .seconds(2))
  private var id = HubConnectionID(0)
  private var parting = HubParting.lost

  init(host: HubHost, dialect: HubDialect, query: [String: String]) {
    self.host = host
    self.dialect = dialect
    self.query = query
  }

  func handlerAdded(context: ChannelHandlerContext) {
    line.context = context
    id = host.admit(self)
    host.opened(id, dialect, query, from: context.clientAddress)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    line.context = nil
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) { finish() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text:
      guard line.isOpen else { return }
      host.handle(.received(id, Array(frame.unmaskedData.readableBytesView)))
    case .binary: host.handle(.unreadable(id, .notText))
    case .ping:
      host.handle(.heard(id))
      line.answer(ping: frame)
    case .pong: host.handle(.heard(id))
    case .connectionClose:
      let code = WebSocketLine.code(ofClose: frame)
      if code == nil || code == .normalClosure || code == .goingAway { parting = .goodbye }
      line.answerClose(code)
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
    guard line.isOpen, let context = line.context else { return }
    let bytes = text.utf8.count
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { _ in self.host.handle(.drained(self.id, bytes: bytes)) }
    line.send(.text, ByteBuffer(string: text), written)
  }

  func ping() { line.send(.ping, ByteBuffer()) }

  /// After what was sent before.
  func close(code: UInt16, reason: String) { line.close(WebSocketErrorCode(codeNumber: Int(code)), reason: reason) }

  func abort() { line.context?.close(promise: nil) }

  private func finish() {
    guard line.finish() else { return }
    host.gone(id, parting)
  }
}
