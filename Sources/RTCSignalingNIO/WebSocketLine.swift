import NIOCore
import NIOWebSocket

/// What both ends of the hub's WebSocket do alike: frames out, pongs, and the exchange of close frames. Belongs to a
/// channel's handler and lives on its event loop. A class, since a write may end the channel at once and call `finish`.
final class WebSocketLine {
  private enum Phase {
    case open
    /// Our close frame is out; the other end has a while to answer it.
    case closing(Scheduled<Void>)
    case closed
  }

  /// A client masks its frames (RFC 6455 §5.3).
  private let masksFrames: Bool
  /// For the other end to take what is on its way and answer our close frame.
  private let closeGrace: TimeAmount
  private var phase = Phase.open
  /// Nil before the handler is in its pipeline and when it has left.
  var context: ChannelHandlerContext?

  init(masksFrames: Bool, closeGrace: TimeAmount) {
    self.masksFrames = masksFrames
    self.closeGrace = closeGrace
  }

  /// Nobody has said goodbye.
  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// Nothing follows a close frame.
  func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
    guard isOpen else { return }
    write(opcode, data, promise)
  }

  /// Whoever asks faster than it listens gets no answer, or the answers would pile up here.
  func answer(ping: WebSocketFrame) {
    guard let context, context.channel.isWritable else { return }
    send(.pong, ping.unmaskedData)
  }

  /// The code that a close frame gives, if any.
  static func code(ofClose frame: WebSocketFrame) -> WebSocketErrorCode? {
    var data = frame.unmaskedData
    return data.readWebSocketErrorCode()
  }

  /// Answers a close frame of that code, unless it is itself an answer, and closes: the handler may hear of the end
  /// before this returns.
  func answerClose(_ code: WebSocketErrorCode?) {
    var echo = ByteBuffer()
    if let code { echo.write(webSocketErrorCode: code) }
    send(.connectionClose, echo)
    context?.close(promise: nil)
  }

  /// Says goodbye, after what was sent before.
  func close(_ code: WebSocketErrorCode, reason: String = "") {
    guard isOpen, let context else { return }
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    // A control frame holds 125 bytes; sentences are cut at a character's end.
    var short = reason
    while short.utf8.count > 123 { short.removeLast() }
    data.writeString(short)
    write(.connectionClose, data)
    phase = .closing(
      context.eventLoop.assumeIsolated().scheduleTask(in: closeGrace) { context.close(promise: nil) })
  }

  /// The connection has ended; true the first time.
  func finish() -> Bool {
    switch phase {
    case .closed: return false
    case .closing(let timer): timer.cancel()
    case .open: break
    }
    phase = .closed
    return true
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
    guard let context else { return }
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: masksFrames ? .random() : nil, data: data)
    context.writeAndFlush(NIOAny(frame), promise: promise)
  }
}
