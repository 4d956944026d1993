import NIOCore
import NIOPosix
import RTCDTLS
import RTCSignaling
import RTCSignalingNIO

/// The owner of a channel to a Redis server or a sentinel.
protocol RedisReceiver: AnyObject {
  func received(_ bytes: ByteBuffer)
  /// The channel has ended, or was not opened. May be called more than once.
  func end(_ failure: RedisFailure)
}

/// Opens channels to Redis servers and sentinels.
enum RedisChannel {
  /// Opens a channel whose bytes go to `receiver`, on the event loop.
  static func open(
    _ address: RedisAddress, timeout: TimeAmount, _ eventLoop: any EventLoop, _ receiver: any RedisReceiver,
    _ opened: @escaping (any Channel) -> Void
  ) {
    let tls: TLSContext?
    do {
      tls = try address.isSecure ? TLSContext(trusting: .system, applicationProtocol: nil) : nil
    } catch { return receiver.end(RedisFailure(error)) }
    let (bound, host) = (NIOLoopBound(receiver, eventLoop: eventLoop), address.place.host)
    let opening = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            let name: TLSHost = host.isAddress ? .address(host.text) : .name(host.text)
            try channel.pipeline.syncOperations.addHandler(TLSHandler(try TLSSession(tls, to: name)))
          }
          try channel.pipeline.syncOperations.addHandler(RedisInput(bound.value))
        }
      }
      .connect(host: host.text, port: Int(address.place.port))
    opening.assumeIsolated().whenComplete { result in
      switch result {
      case .failure(let error): receiver.end(RedisFailure(error))
      case .success(let channel): opened(channel)
      }
    }
  }
}

/// The last handler of a channel's pipeline.
private final class RedisInput: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let receiver: any RedisReceiver

  init(_ receiver: any RedisReceiver) { self.receiver = receiver }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { receiver.received(unwrapInboundIn(data)) }

  func channelInactive(context: ChannelHandlerContext) { receiver.end(.closed) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { receiver.end(RedisFailure(error)) }
}
