import Logging
import RTCSignaling
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct StartAndStopTests {
  func start(_ address: String, token: String? = nil) async throws -> SignalingServer {
    let configuration = SignalingServerConfiguration(
      listen: try ListenAddress(parsing: address),
      gate: token.flatMap { AccessToken($0) }.map { AccessGate(secret: $0) } ?? .open())
    return try await SignalingServer.start(configuration, sessions: CannedSessions(), logger: Logger(label: "test"))
  }

  @Test(arguments: ["127.0.0.1:0", "localhost:0", "[::1]:0"]) func `it tells where it listens`(text: String)
    async throws
  {
    let server = try await start(text)
    #expect(server.address.port != 0)
    #expect(server.address.host == (try ListenAddress(parsing: text)).host)
    #expect(server.link == "http://\(server.address)/")
    var wire = try await Wire(to: server.address)
    try await wire.send(request("GET", "/health"))
    #expect(await wire.answer()?.status == 200)
    await server.shutdown()
  }

  @Test func `a taken port is named`() async throws {
    let first = try await start("127.0.0.1:0")
    await #expect(throws: SignalingServerError.portTaken(first.address)) {
      try await start(first.address.description)
    }
    await first.shutdown()
    await (try start(first.address.description)).shutdown()  // free again
  }

  @Test func `a server that nobody said more of has a secret of its own, on loopback too`() async throws {
    try await Bench.run(SignalingServerConfiguration()) { bench in
      let secret = try #require(bench.server.link.split(separator: "#token=").last)
      #expect(secret.utf8.count == 26)
      #expect(try await bench.post(CannedSessions.plain).status == 401)
      #expect(try await bench.post(CannedSessions.plain, headers: ["Authorization: Bearer \(secret)"]).status == 201)
    }
  }

  @Test func `an address of another machine or none is named`() async throws {
    let other = try ListenAddress(parsing: "192.0.2.1:0")
    await #expect(throws: SignalingServerError.notThisMachine(other)) { try await start("192.0.2.1:0", token: "x") }
    let nowhere = try ListenAddress(parsing: "nowhere.invalid:0")
    await #expect(throws: SignalingServerError.unknownHost(nowhere)) {
      try await start("nowhere.invalid:0", token: "x")
    }
  }

  @Test func `shutting down lets a running request end and closes the rest`() async throws {
    try await Bench.run(limits: { $0.shutdownGrace = 60_000 }) { bench in
      var resting = try await bench.wire()
      try await resting.send(request("GET", "/health"))
      #expect(await resting.answer()?.status == 200)
      async let answer = bench.post(CannedSessions.waiting)
      await bench.sessions.arrivals.reach(1)
      async let stopped: Void = bench.server.shutdown()
      #expect(await resting.endsQuietly())
      bench.sessions.release()
      #expect(try await answer.status == 201)
      await stopped
      await bench.server.shutdown()  // once more does no harm
      await #expect(throws: (any Error).self) { try await bench.wire() }
    }
  }

  @Test func `a cast that never answers cannot hold up the shutdown`() async throws {
    try await Bench.run(limits: { $0.shutdownGrace = 30 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(
        request("POST", "/whep", headers: ["Content-Type: application/sdp"], body: CannedSessions.waiting))
      await bench.sessions.arrivals.reach(1)
      await bench.server.shutdown()
      #expect(await wire.answer() == nil)
    }
  }
}
