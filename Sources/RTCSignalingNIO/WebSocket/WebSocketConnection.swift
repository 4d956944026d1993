package import NIOCore
package import NIOWebSocket

/// One end of a WebSocket connection, as a channel's handler behind NIO's frame decoder: messages in, frames out, pongs,
/// and the exchange of close frames. Lives on its channel's event loop. A write may end the channel at once and call back.
package final class WebSocketConnection: ChannelInboundHandler {
  package typealias InboundIn = WebSocketFrame
  package typealias OutboundOut = WebSocketFrame

  /// Clients mask their frames (RFC 6455 §5.3); servers end the TCP connection (§7.1.1).
  package enum Role { case client, server }

  private enum Phase {
    case open
    /// The other end has broken the rules; a last word may be said.
    case deaf
    /// Our close frame is out; the other end has a while to answer it, or to end the connection.
    case closing(Scheduled<Void>)
    case closed
  }

  private let role: Role
  private let messageBytes: Int
  private var reader: WebSocketReader
  /// Nil when the connection has ended.
  private var owner: (any WebSocketOwner)?
  private var phase = Phase.open
  /// Nil before the handler is in its pipeline and when it has left.
  private var context: ChannelHandlerContext?

  /// - Parameter messageBytes: the largest message that is taken.
  package init(_ role: Role, messageBytes: Int, owner: any WebSocketOwner) {
    self.role = role
    self.messageBytes = messageBytes
    self.owner = owner
    reader = WebSocketReader(expectsMask: role == .server, messageBytes: messageBytes)
  }

  /// Whether no side has sent a close frame.
  private var maySend: Bool {
    switch phase {
    case .open, .deaf: true
    case .closing, .closed: false
    }
  }

  // MARK: Actions of the owner

  /// Sends a message; nothing follows a close frame.
  package func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
    guard maySend else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    write(opcode, data, promise)
  }

  /// Sends a close frame after the messages sent before.
  package func close(_ code: WebSocketErrorCode, reason: String = "") {
    guard maySend, context != nil else { return }
    var data = ByteBuffer()
    data.write(webSocketErrorCode: code)
    // A control frame holds 125 bytes; sentences are cut at a character's end.
    var short = reason
    while short.utf8.count > 123 { short.removeLast() }
    data.writeString(short)
    write(.connectionClose, data)
    awaitEnd()
  }

  /// Ends without a word.
  package func abort() { context?.close(promise: nil) }

  // MARK: ChannelInboundHandler

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    owner?.opened(self)
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    finish()
  }

  package func channelInactive(context: ChannelHandlerContext) { finish() }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch phase {
    case .open, .closing: break
    case .deaf, .closed: return
    }
    do throws(WebSocketViolation) {
      guard let event = try reader.read(unwrapInboundIn(data)) else { return }
      hear(event)
    } catch {
      fail(error)
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case NIOWebSocketError.invalidFrameLength: fail(.tooLarge(limit: messageBytes))
    case NIOWebSocketError.fragmentedControlFrame: fail(.framing("a control frame is fragmented"))
    case is NIOWebSocketError: fail(.framing("a control frame is larger than 125 bytes"))
    default: context.close(promise: nil)
    }
  }

  // MARK: Receiving

  private func hear(_ event: WebSocketReader.Event) {
    // Messages that arrive after our close frame are ignored.
    if case .close(let code) = event { return hearClose(code) }
    guard case .open = phase else { return }
    switch event {
    case .text(let data): owner?.received(text: data)
    case .binary(let data): owner?.received(binary: data)
    case .ping(let data):
      owner?.heard()
      // A remote side that pings faster than it reads gets no answer; otherwise answers would accumulate here.
      if context?.channel.isWritable == true { send(.pong, data) }
    case .pong: owner?.heard()
    case .close: break
    }
  }

  private func hearClose(_ code: WebSocketErrorCode?) {
    if case .open = phase {
      owner?.closing(code)
      var echo = ByteBuffer()
      if let code { echo.write(webSocketErrorCode: code) }
      write(.connectionClose, echo)
      if role == .client { return awaitEnd() }
    }
    context?.close(promise: nil)
  }

  private func fail(_ violation: WebSocketViolation) {
    switch phase {
    case .open:
      phase = .deaf
      owner?.broke(violation)
    case .closing: context?.close(promise: nil)
    case .deaf, .closed: break
    }
  }

  /// Ends the channel if the other end does not.
  private func awaitEnd() {
    guard let context else { return }
    phase = .closing(
      context.eventLoop.assumeIsolated().scheduleTask(in: role == .server ? .seconds(2) : .milliseconds(500)) {
        context.close(promise: nil)
      })
  }

  private func finish() {
    switch phase {
    case .closed: return
    case .closing(let timer): timer.cancel()
    case .open, .deaf: break
    }
    phase = .closed
    let owner = owner
    self.owner = nil
    owner?.ended()
  }

  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ promise: EventLoopPromise<Void>? = nil) {
    guard let context else { return }
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: role == .client ? .random() : nil, data: data)
    context.writeAndFlush(NIOAny(frame), promise: promise)
  }
}

/// Receives the events of a WebSocket connection, on its event loop.
package protocol WebSocketOwner: AnyObject, SendableMetatype {
  /// The handshake is done; from now on `connection` sends.
  func opened(_ connection: WebSocketConnection)
  /// A message in UTF-8.
  func received(text: ByteBuffer)
  func received(binary: ByteBuffer)
  /// A ping or a pong: the other end lives.
  func heard()
  /// The other end breaks the rules, and is not listened to any more. The connection stays for a last word: `close`.
  func broke(_ violation: WebSocketViolation)
  /// The other end says goodbye; the answer is sent.
  func closing(_ code: WebSocketErrorCode?)
  /// The connection is gone. The last call.
  func ended()
}
