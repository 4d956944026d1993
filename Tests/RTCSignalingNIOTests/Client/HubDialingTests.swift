import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RTCSignaling
import RTCSignalingNIO
import Testing

/// How a connection to the hub begins, and may end at once.
@Suite(.timeLimit(.minutes(1))) struct HubDialingTests {
  /// Server and client share a loop, so that the client's first read brings the answer, the words and the end together.
  @Test func `what a server says before it ends the connection at once is heard`() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
      upgradePipelineHandler: { channel, _ in
        let words = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: "full"))
        channel.writeAndFlush(words, promise: nil)
        channel.close(promise: nil)
        return channel.eventLoop.makeSucceededVoidFuture()
      })
    let listener = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(listener.localAddress?.port)
    let address = try #require(HubAddress("ws://127.0.0.1:\(port)"))
    let heard = try await HubDialing.connect(to: address, HubClient.Configuration(), on: loop) { Listener($0) }
      .flatMap { $0.value.all.futureResult }.get()
    #expect(heard == ["full"])
    try await listener.close()
    try await group.shutdownGracefully()
  }

  /// Keeps the texts it hears until the connection is gone.
  private final class Listener: WebSocketOwner {
    let all: EventLoopPromise<[String]>
    private var texts: [String] = []

    init(_ loop: any EventLoop) { all = loop.makePromise() }

    func opened(_ connection: WebSocketConnection) {}
    func received(text: ByteBuffer) { texts.append(String(buffer: text)) }
    func received(binary: ByteBuffer) {}
    func heard() {}
    func broke(_ violation: WebSocketViolation) {}
    func closing(_ code: WebSocketErrorCode?) {}
    func ended() { all.succeed(texts) }
  }
}
