import NIOCore

/// Stands before the HTTP decoder and tells the connection that bytes came, so that the time a client has for its
/// request begins with the first byte and not with the head, which a slow client may never finish.
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
