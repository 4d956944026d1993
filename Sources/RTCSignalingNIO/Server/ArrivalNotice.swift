import NIOCore

/// A handler before the HTTP decoder that reports the arrival of bytes, so that the time limit of a request begins with
/// its first byte and not with its head, which a slow client may never finish.
final class ArrivalNotice: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: ClientConnection

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.bytesArrived()
    context.fireChannelRead(data)
  }
}
