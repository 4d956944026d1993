import NIOCore
import NIOPosix
import RTCDTLS
import RTCSignaling
import RTCSignalingNIO
import Testing

/// The server by TLS, and clients that do it badly or not at all.
@Suite(.timeLimit(.minutes(1))) struct TLSTests {
  private func secured(_ change: (inout ServerLimits) -> Void = { _ in }) -> SignalingServerConfiguration {
    var limits = ServerLimits()
    change(&limits)
    var configuration = SignalingServerConfiguration(gate: .open(), limits: limits)
    configuration.tls = TestCertificate.identity
    return configuration
  }

  @Test func `one connection serves one request after the other, pages included`() async throws {
    try await Bench.run(secured()) { bench in
      var wire = try await Wire(to: bench.server.address, isSecure: true)
      for _ in 0..<3 {
        try await wire.send(request("GET", "/"))
        let page = try #require(await wire.answer())
        #expect(page.status == 200)
        #expect(Array(page.body.utf8) == ViewerPage.html)
      }
      let headers = ["Content-Type: application/sdp", "Connection: close"]
      try await wire.send(request("POST", "/whep", headers: headers, body: "v=0"))
      #expect(await wire.answer()?.status == 201)
      #expect(await wire.endsQuietly())
    }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{80}rubbish"])
  func `what is no handshake ends its connection and nothing else`(text: String) async throws {
    try await Bench.run(secured()) { bench in
      var bad = try await bench.wire()
      try await bad.send(text)
      while await bad.answer() != nil {}  // an alert is no answer
      var good = try await Wire(to: bench.server.address, isSecure: true)
      try await good.send(request("GET", "/health"))
      #expect(await good.answer()?.status == 200)
    }
  }

  @Test(arguments: ["", "\u{16}\u{3}\u{1}\u{1}", "\u{16}\u{3}\u{1}\u{0}\u{2}ab"])
  func `a handshake that never ends is given up`(text: String) async throws {
    try await Bench.run(secured { $0.firstByteTimeout = 40 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(text)
      #expect(await wire.endsQuietly())
    }
  }

  @Test func `whoever finds no room is told so by TLS too`() async throws {
    try await Bench.run(secured { $0.connections = 1 }) { bench in
      var first = try await Wire(to: bench.server.address, isSecure: true)
      try await first.send(request("GET", "/health"))
      #expect(await first.answer()?.status == 200)
      var second = try await Wire(to: bench.server.address, isSecure: true)
      try await second.send(request("GET", "/health"))
      #expect(await second.answer()?.status == 503)
    }
  }

  /// Both ends of one handler, the other of which does not read.
  @Test func `whoever does not read slows down whoever writes`() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let context = try TLSContext.server(TestCertificate.identity)
    let listener = try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(TLSHandler(TLSSession(context)))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let session = try TLSSession(
            try TLSContext(trusting: .system), to: .address("127.0.0.1"), verifier: { _ in true })
          try channel.pipeline.syncOperations.addHandler(TLSHandler(session, closeGrace: .milliseconds(10)))
        }
      }
      .connect(to: try #require(listener.localAddress)).get()
    // The handshake goes through although nobody at the server asks for data.
    try await client.writeAndFlush(ByteBuffer(string: "first"))
    let block = ByteBuffer(repeating: 7, count: 1 << 20)
    for _ in 0..<64 {
      guard client.isWritable else { break }
      client.writeAndFlush(block, promise: nil)
      try await client.eventLoop.submit {}.get()
    }
    #expect(!client.isWritable)
    try await client.close()
    try await listener.close()
  }

  @Test func `what is written before the handshake has a limit`() async throws {
    let mute = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { $0.eventLoop.makeSucceededVoidFuture() }
      .bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let session = try TLSSession(try TLSContext(trusting: .system), to: .address("127.0.0.1"))
          try channel.pipeline.syncOperations.addHandler(TLSHandler(session))
        }
      }
      .connect(to: try #require(mute.localAddress)).get()
    client.writeAndFlush(ByteBuffer(repeating: 7, count: TLSHandler.bufferLimit), promise: nil)
    await #expect(throws: TLSHandler.TooMuchWaiting.self) { try await client.writeAndFlush(ByteBuffer(bytes: [7])) }
    try await client.closeFuture.get()
    try await mute.close()
  }
}
