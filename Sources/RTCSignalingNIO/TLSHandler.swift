package import NIOCore
package import RTCDTLS

/// TLS between a channel's socket and the HTTP handlers. Reports the connection to them at once, keeps their writes
/// until the handshake is complete, and closes the channel, after `errorCaught`, on any error. Belongs to one channel
/// and lives on its event loop.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// Bytes that may be written before the handshake is complete, and bytes of answers to the remote side's own TLS messages
  /// that it may leave unread.
  package static let bufferLimit = 1 << 20

  /// More than `bufferLimit` waits.
  package struct TooMuchWaiting: Error {}

  /// The user event for the handlers above when the handshake is complete.
  package struct HandshakeCompleted: Sendable {}

  private enum Phase {
    /// Not connected yet, or in the handshake.
    case opening
    case open
    /// close_notify was sent; the timer is for a remote side that reads nothing more. The promise notifies the closing
    /// caller.
    case closing(Scheduled<Void>, EventLoopPromise<Void>?)
    case closed
  }

  private struct WaitingWrite {
    var data: ByteBuffer
    var promise: EventLoopPromise<Void>?
  }

  private let session: TLSSession
  /// The response to a plain-text client; empty: none.
  private let plainAnswer: [UInt8]
  private var hasAnswered = false
  /// The time for earlier writes to be sent before closing.
  private let closeGrace: TimeAmount
  private var phase = Phase.opening
  private var waitingWrites: [WaitingWrite] = []
  private var waitingBytes = 0
  private var answersOnTheirWay = 0
  /// A handler above has asked for more and got nothing yet.
  private var owesRead = false

  /// - Parameter plainAnswer: of a server: bytes for a client whose first bytes are not TLS's; the connection ends then.
  package init(_ session: TLSSession, closeGrace: TimeAmount = .seconds(2), plainAnswer: [UInt8] = []) {
    self.session = session
    self.plainAnswer = plainAnswer
    self.closeGrace = closeGrace
  }

  // MARK: The socket's side

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { handle(session.start(), context) }
  }

  package func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    handle(session.start(), context)
    context.read()  // the handshake is our own affair, whether anybody above reads or not
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    handle(session.receive(bytes.readableBytesUInt8Span), context)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // The received bytes had no data, only TLS messages.
    if case .opening = phase { context.read() } else if owesRead { context.read() }
  }

  package func channelInactive(context: ChannelHandlerContext) {
    let events = session.endOfInput()
    handle(events, context)
    finish(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  package func handlerRemoved(context: ChannelHandlerContext) { finish(ChannelError.ioOnClosedChannel) }

  private func handle(_ events: [TLSEvent], _ context: ChannelHandlerContext) {
    if !plainAnswer.isEmpty, !hasAnswered, events.contains(.failed(.notTLS)) {
      hasAnswered = true
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: plainAnswer)), promise: nil)
      return fail(TLSFailure.notTLS, context)
    }
    // First, since writes of the handlers above must come after it.
    writeAnswers(context)
    for event in events {
      switch event {
      case .connected:
        guard case .opening = phase else { break }
        phase = .open
        writeWaiting(context)
        context.fireUserInboundEventTriggered(HandshakeCompleted())
      case .data(let bytes):
        guard case .open = phase else { break }
        owesRead = false
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes)))
      case .closedByPeer: if case .open = phase { closeAll(context, nil) }
      case .failed(let failure): fail(failure, context)
      }
    }
  }

  /// Writes what TLS itself has to say: the handshake, alerts, answers to updated keys.
  private func writeAnswers(_ context: ChannelHandlerContext) {
    let bytes = session.takeOutput()
    guard !bytes.isEmpty else { return }
    hasAnswered = true
    answersOnTheirWay += bytes.count
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in self.answersOnTheirWay -= bytes.count }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: written)
    if answersOnTheirWay > Self.bufferLimit { fail(TooMuchWaiting(), context) }
  }

  private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
    if case .closed = phase { return }
    finish(error)
    context.fireErrorCaught(error)
    context.close(promise: nil)
  }

  private func finish(_ error: any Error) {
    if case .closing(let timer, let promise) = phase {
      timer.cancel()
      promise?.succeed()
    }
    phase = .closed
    let writes = waitingWrites
    waitingWrites = []
    for write in writes { write.promise?.fail(error) }
  }

  // MARK: Writing

  package func read(context: ChannelHandlerContext) {
    owesRead = true
    context.read()
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let data = unwrapOutboundIn(data)
    switch phase {
    case .opening:
      waitingBytes += data.readableBytes
      guard waitingBytes <= Self.bufferLimit else {
        promise?.fail(TooMuchWaiting())
        return fail(TooMuchWaiting(), context)
      }
      waitingWrites.append(WaitingWrite(data: data, promise: promise))
    case .open: encrypt(data, promise, context)
    case .closing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
    }
  }

  private func writeWaiting(_ context: ChannelHandlerContext) {
    let writes = waitingWrites
    waitingWrites = []
    for write in writes { encrypt(write.data, write.promise, context) }
    context.flush()
  }

  private func encrypt(_ data: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
    guard session.isConnected else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    session.send(data.readableBytesUInt8Span)
    // Nothing results from empty data; the promise then waits for earlier writes.
    context.write(wrapOutboundOut(ByteBuffer(bytes: session.takeOutput())), promise: promise)
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    switch (mode, phase) {
    case (.all, .open): closeAll(context, promise)
    case (.output, .open): closeOutput(context, promise)
    case (.all, _):
      finish(ChannelError.ioOnClosedChannel)
      context.close(promise: promise)
    case (_, _): context.close(mode: mode, promise: promise)
    }
  }

  /// Sends close_notify and closes when all writes were sent.
  private func closeAll(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    session.close()
    let timer = context.eventLoop.assumeIsolated().scheduleTask(in: closeGrace) { self.endClosing(context) }
    phase = .closing(timer, promise)
    writeGoodbye(context) { self.endClosing(context) }
  }

  /// The goodbye has left, or the time for it is over.
  private func endClosing(_ context: ChannelHandlerContext) {
    guard case .closing(let timer, let promise) = phase else { return }
    timer.cancel()
    phase = .closed
    context.close(promise: promise)
  }

  private func closeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    session.closeOutput()
    writeGoodbye(context) { context.close(mode: .output, promise: promise) }
  }

  private func writeGoodbye(_ context: ChannelHandlerContext, _ then: @escaping () -> Void) {
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in then() }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: session.takeOutput())), promise: written)
  }
}
