import NIOCore
import NIOPosix

package import RTCSignaling

/// The ports of a client that has a hub try whether they are reached from outside: UDP and TCP of one number.
package final class ReachListener: Sendable {
  /// The number of both ports.
  package let port: UInt16
  private let group: MultiThreadedEventLoopGroup
  private let channels: [any Channel]
  private let arrivals: AsyncStream<[UInt8]>

  /// Listens on all addresses of this machine.
  /// - Parameter port: 0 for any that is free for both.
  /// - Throws: if the port is taken.
  package static func start(port: UInt16) async throws(ReachListenerError) -> ReachListener {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // A port that is free for UDP may be taken for TCP.
    for _ in 0..<(port == 0 ? 8 : 1) {
      for host in ["::", "0.0.0.0"] {
        if let listener = try? await listen(group, host, port) { return listener }
      }
    }
    try? await group.shutdownGracefully()
    throw ReachListenerError(port: port)
  }

  private static func listen(_ group: MultiThreadedEventLoopGroup, _ host: String, _ port: UInt16) async throws
    -> ReachListener
  {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingNewest(64))
    let udp = try await DatagramBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DatagramReader(continuation))
        }
      }
      .bind(host: host, port: Int(port)).get()
    guard let number = udp.localAddress?.port else { throw ReachListenerError(port: port) }
    do {
      let tcp = try await ServerBootstrap(group: group)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        // The hub only needs to get through.
        .childChannelInitializer { $0.close() }
        .bind(host: host, port: number).get()
      return ReachListener(UInt16(number), group, [udp, tcp], stream)
    } catch {
      try? await udp.close()
      throw error
    }
  }

  private init(
    _ port: UInt16, _ group: MultiThreadedEventLoopGroup, _ channels: [any Channel], _ arrivals: AsyncStream<[UInt8]>
  ) {
    (self.port, self.group, self.channels, self.arrivals) = (port, group, channels, arrivals)
  }

  /// Whether the request's datagram has come, or comes within the time.
  package func receives(_ request: ReachRequest, within time: Duration) async -> Bool {
    await withTaskGroup(of: Bool.self) { tasks in
      tasks.addTask { [arrivals] in
        for await bytes in arrivals where bytes == request.datagram { return true }
        return false
      }
      tasks.addTask {
        try? await Task.sleep(for: time)
        return false
      }
      defer { tasks.cancelAll() }
      return await tasks.next() ?? false
    }
  }

  /// Frees the ports.
  package func stop() async {
    for channel in channels { try? await channel.close() }
    try? await group.shutdownGracefully()
  }

  private final class DatagramReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let arrivals: AsyncStream<[UInt8]>.Continuation

    init(_ arrivals: AsyncStream<[UInt8]>.Continuation) { self.arrivals = arrivals }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      arrivals.yield(Array(unwrapInboundIn(data).data.readableBytesView.prefix(128)))
    }
  }
}

/// A port could not be opened.
package struct ReachListenerError: Error, Sendable {
  /// 0: none that is free for UDP and TCP was found.
  package let port: UInt16
}
