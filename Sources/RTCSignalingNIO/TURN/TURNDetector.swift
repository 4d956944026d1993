import NIOCore
import RTCPrimitives
import Synchronization

/// Passes the stream of a TURN client, which came to the hub's own port, to the TURN server. The first byte decides: that of a STUN
/// request is zero, and no HTTP request begins with it. Stands between TLS, or the socket, and the HTTP handlers.
final class TURNDetector: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Phase {
    case undecided
    case http
    case turn(TURNChannelClient)
    case ended
  }

  private let host: TURNHost
  private let connection: ClientConnection
  private var phase = Phase.undecided
  private var context: ChannelHandlerContext?

  init(_ host: TURNHost, _ connection: ClientConnection) { (self.host, self.connection) = (host, connection) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if case .undecided = phase, let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) {
      phase = first == 0 ? takeOver(context) : .http
    }
    switch phase {
    case .undecided, .http: context.fireChannelRead(data)
    case .turn(let client): host.received(Array(bytes.readableBytesView), from: client)
    case .ended: break
    }
  }

  private func takeOver(_ context: ChannelHandlerContext) -> Phase {
    guard let remote = Self.address(context.remoteAddress), let local = Self.address(context.localAddress) else {
      context.close(promise: nil)
      return .ended
    }
    connection.handOver()
    context.channel.pipeline.syncOperations.removeHandler(connection, promise: nil)
    let client = TURNChannelClient(self, on: context.eventLoop)
    host.openStream(from: remote, at: local, client)
    return .turn(client)
  }

  private static func address(_ address: NIOCore.SocketAddress?) -> RTCPrimitives.SocketAddress? {
    guard let text = address?.ipAddress, let ip = IPAddress(text.prefix { $0 != "%" }), let port = address?.port else {
      return nil
    }
    return RTCPrimitives.SocketAddress(ip: ip, port: UInt16(clamping: port))
  }

  func channelInactive(context: ChannelHandlerContext) {
    if case .turn(let client) = phase { host.streamEnded(client) }
    phase = .ended
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case .turn = phase { context.close(promise: nil) } else { context.fireErrorCaught(error) }
  }

  /// Data that the connection does not take now is lost, as on every path.
  fileprivate func write(_ bytes: [UInt8]) {
    guard case .turn = phase, let context, context.channel.isWritable else { return }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }

  fileprivate func close() { context?.close(promise: nil) }
}

/// The stream of a client that came to the hub's port, as the TURN server's thread holds it.
final class TURNChannelClient: TURNStreamSink, Sendable {
  private let detector: NIOLoopBound<TURNDetector>
  private let eventLoop: any EventLoop
  private let assigned = Mutex<UInt16?>(nil)

  fileprivate init(_ detector: TURNDetector, on eventLoop: any EventLoop) {
    self.detector = NIOLoopBound(detector, eventLoop: eventLoop)
    self.eventLoop = eventLoop
  }

  /// The number of the stream at the server; nil: there is none yet, or no more.
  var number: UInt16? {
    get { assigned.withLock { $0 } }
    set { assigned.withLock { $0 = newValue } }
  }

  func send(_ bytes: Span<UInt8>) {
    let copy = [UInt8](copying: bytes)
    eventLoop.execute { [detector] in detector.value.write(copy) }
  }

  func close() { eventLoop.execute { [detector] in detector.value.close() } }
}
