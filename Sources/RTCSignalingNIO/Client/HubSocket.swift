import NIOCore
import NIOWebSocket
import RTCSignaling

/// Whom a socket tells what comes, and as whose.
struct NumberedLink {
  var link: HubLink
  var number: UInt64

  func hear(_ input: HubSession.Input) { link.hear(input, from: number) }
}

/// A client's end of a WebSocket connection to the hub. Lives on its channel's event loop and nowhere else.
final class HubSocket: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  var link: NumberedLink?
  private let line = WebSocketLine(masksFrames: true, closeGrace: .milliseconds(500))
  private var code: UInt16?
  private let gone: EventLoopPromise<Void>

  /// When the connection has ended.
  var whenGone: EventLoopFuture<Void> { gone.futureResult }

  init(eventLoop: any EventLoop) { gone = eventLoop.makePromise() }

  func handlerAdded(context: ChannelHandlerContext) { line.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    line.context = nil
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) { finish() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: link?.hear(.received(Array(frame.unmaskedData.readableBytesView)))
    case .ping:
      link?.hear(.heard)
      line.answer(ping: frame)
    case .connectionClose:
      let said = WebSocketLine.code(ofClose: frame)
      code = said.map { UInt16(webSocketErrorCode: $0) }
      line.answerClose(said)
    default: link?.hear(.heard)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func send(_ text: String) { line.send(.text, ByteBuffer(string: text)) }

  func ping() { line.send(.ping, ByteBuffer()) }

  /// After what was sent before.
  func goodbye() { line.close(.normalClosure) }

  private func finish() {
    guard line.finish() else { return }
    gone.succeed(())
    let link = link
    self.link = nil
    link?.hear(.closed(code: code))
  }
}
