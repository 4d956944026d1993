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

  private enum Phase {
    case open
    /// Our close frame is out.
    case closing(Scheduled<Void>)
    case closed
  }

  /// For the hub to answer our close frame.
  private static let closeGrace = TimeAmount.milliseconds(500)

  var link: NumberedLink?
  private var context: ChannelHandlerContext?
  private var phase = Phase.open
  private var code: UInt16?
  private let gone: EventLoopPromise<Void>

  /// When the connection has ended.
  var whenGone: EventLoopFuture<Void> { gone.futureResult }

  init(eventLoop: any EventLoop) { gone = eventLoop.makePromise() }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) { finish() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: link?.hear(.received(Array(frame.unmaskedData.readableBytesView)))
    case .ping:
      link?.hear(.heard)
      guard case .open = phase, context.channel.isWritable else { return }
      write(.pong, frame.unmaskedData)
    case .connectionClose:
      var data = frame.unmaskedData
      let said = data.readWebSocketErrorCode()
      code = said.map { UInt16(webSocketErrorCode: $0) }
      if case .open = phase {
        var echo = ByteBuffer()
        if let said { echo.write(webSocketErrorCode: said) }
        write(.connectionClose, echo)
      }
      context.close(promise: nil)
    default: link?.hear(.heard)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func send(_ text: String) {
    guard case .open = phase else { return }
    write(.text, ByteBuffer(string: text))
  }

  func ping() {
    guard case .open = phase else { return }
    write(.ping, ByteBuffer())
  }

  /// After what was sent before.
  func goodbye() {
    guard case .open = phase, let context else { return }
    var data = ByteBuffer()
    data.write(webSocketErrorCode: .normalClosure)
    write(.connectionClose, data)
    phase = .closing(
      context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeGrace) { self.context?.close(promise: nil) })
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
    guard let context else { return }
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }

  private func finish() {
    switch phase {
    case .closed: return
    case .closing(let timer): timer.cancel()
    case .open: break
    }
    phase = .closed
    gone.succeed(())
    let link = link
    self.link = nil
    link?.hear(.closed(code: code))
  }
}
