import NIOCore
import RTCSignaling

/// The first handler of a trusted proxy's connection: removes the header of the PROXY protocol, if there is one, and
/// reports the client's address. Then it removes itself.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: ClientConnection
  private var held = ByteBuffer()

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    held.writeImmutableBuffer(unwrapInboundIn(data))
    switch ProxyHeader.read(held.readableBytesUInt8Span) {
    case .incomplete: connection.bytesArrived()
    case .malformed: context.close(promise: nil)
    case .absent: leave(context)
    case .header(let header):
      held.moveReaderIndex(forwardBy: header.length)
      // A refused connection is not read any further.
      if let source = header.source, !connection.comes(from: source.description) { held.clear() }
      leave(context)
    }
  }

  /// Forwards the bytes after the header.
  private func leave(_ context: ChannelHandlerContext) {
    if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    _ = context.pipeline.syncOperations.removeHandler(self)
  }
}
