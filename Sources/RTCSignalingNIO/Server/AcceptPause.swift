import Logging
import NIOCore

/// The first handler of the listener: pauses accepting for a second when the system refused a connection. Without
/// descriptors the listener would stay readable, and NIO would retry without end.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = Channel

  private static let pause = TimeAmount.seconds(1)
  private let logger: Logger
  private var isPaused = false
  /// Connections were refused since one was taken, which was said.
  private var isTold = false

  init(logger: Logger) { self.logger = logger }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isTold = false
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is IOError else { return context.fireErrorCaught(error) }
    if !isTold {
      isTold = true
      logger.warning("new connections wait, for the system gives no more: \(error). Raise `ulimit -n`.")
    }
    guard !isPaused else { return }
    isPaused = true
    let listener = context.channel
    try? listener.syncOptions?.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.isPaused = false
      try? listener.syncOptions?.setOption(.autoRead, value: true)
    }
  }
}
