import NIOCore
import RTCSignaling

/// Stands first in the pipeline of a trusted proxy's connection: takes the header of the PROXY protocol away, if there is one, and
/// tells whose connection it is. Then it goes.
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
      // One that is sent away is not read any further.
      if let source = header.source, !connection.comes(from: source.description) { held.clear() }
      leave(context)
    }
  }

  /// Hands on what follows the header.
  private func leave(_ context: ChannelHandlerContext) {
    if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    _ = context.pipeline.syncOperations.removeHandler(self)
  }
}
