import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct CrowdTests {
  @Test func `two hundred offers at once are all answered`() async throws {
    try await Bench.run { bench in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<200 { group.addTask { try await bench.post(CannedSessions.plain).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 201, count: 200))
      #expect(bench.sessions.seen.open.count == 200)
    }
  }

  @Test func `offers beyond those that may wait are sent away`() async throws {
    try await Bench.run(limits: { $0.waitingOffers = 2 }) { bench in
      async let first = bench.post(CannedSessions.waiting)
      async let second = bench.post(CannedSessions.waiting)
      await bench.sessions.arrivals.reach(2)
      let third = try await bench.post(CannedSessions.plain)
      #expect(third.status == 503)
      #expect(third["retry-after"] == "1")
      #expect(try await bench.ask("GET", "/").status == 200)
      bench.sessions.release()
      #expect(try await first.status == 201)
      #expect(try await second.status == 201)
      #expect(try await bench.post(CannedSessions.plain).status == 201)
    }
  }

  @Test func `connections beyond the limit are told and closed`() async throws {
    try await Bench.run(limits: {
      $0.connections = 2; $0.lingerTimeout = 10
    }) { bench in
      var held = [try await bench.wire(), try await bench.wire()]
      for index in held.indices {
        try await held[index].send(request("GET", "/health"))
        #expect(await held[index].answer()?.status == 200)
      }
      var third = try await bench.wire()
      #expect(await third.answer()?.status == 503)
      #expect(await third.endsQuietly())
      try await held[0].close()
      try await held[1].send(request("GET", "/health"))
      #expect(await held[1].answer()?.status == 200)
      #expect(try await bench.ask("GET", "/health").status == 200)
    }
  }

  @Test func `B3: whoever connects and says nothing keeps nobody out`() async throws {
    try await Bench.run(limits: { $0.connections = 3 }) { bench in
      var silent: [Wire] = []
      for _ in 0..<3 { silent.append(try await bench.wire()) }
      #expect(try await bench.ask("GET", "/health").status == 200)
      #expect(await silent[0].endsQuietly(), "the oldest gave way")
    }
  }

  @Test func `B8: sessions behind a trusted proxy are the clients', of whom it speaks`() async throws {
    var configuration = SignalingServerConfiguration(gate: AccessGate(secret: AccessToken("sesame-sesame")))
    configuration.trustedProxies = [AddressPrefix("127.0.0.0/8")!]
    try await Bench.run(configuration) { bench in
      let right = "Authorization: Bearer sesame-sesame"
      _ = try await bench.post(CannedSessions.plain, headers: [right, "X-Forwarded-For: 6.6.6.6, 203.0.113.5"])
      _ = try await bench.post(CannedSessions.plain, headers: [right, "Forwarded: for=\"[2001:db8::7]:1\""])
      #expect(bench.sessions.seen.remotes == ["203.0.113.5", "2001:db8::7"])
      // Wrong tries of one slow that one alone.
      for _ in 0..<12 {
        _ = try await bench.post(
          CannedSessions.plain, headers: ["Authorization: Bearer x", "X-Forwarded-For: 203.0.113.6"])
      }
      func status(_ address: String) async throws -> Int {
        try await bench.post(CannedSessions.plain, headers: [right, "X-Forwarded-For: \(address)"]).status
      }
      #expect(try await [status("203.0.113.6"), status("203.0.113.7")] == [201, 201], "what is right is not slowed")
      func guess(_ address: String) async throws -> Int {
        try await bench.post(
          CannedSessions.plain, headers: ["Authorization: Bearer x", "X-Forwarded-For: \(address)"]
        ).status
      }
      #expect(try await [guess("203.0.113.6"), guess("203.0.113.7")] == [429, 401])
      // A client's own header that the proxy has passed on.
      let forged = [right, "Forwarded: for=6.6.6.6", "X-Forwarded-For: 203.0.113.8"]
      #expect(try await bench.post(CannedSessions.plain, headers: forged).status == 400)
    }
  }

  @Test(arguments: [false, true]) func `B8: a trusted proxy says in the PROXY protocol whose connection it is`(
    isWhole: Bool
  ) async throws {
    var configuration = SignalingServerConfiguration(gate: .open())
    configuration.trustedProxies = [AddressPrefix("127.0.0.0/8")!]
    configuration.limits.connectionsOfNetwork = 2
    try await Bench.run(configuration) { bench in
      let line = "PROXY TCP4 203.0.113.5 192.0.2.1 4711 443\r\n"
      let ask = request("GET", "/health")
      func connect(asking ask: String) async throws -> Wire {
        let wire = try await bench.wire()
        let parts = isWhole ? [line + ask] : [String(line.prefix(9)), String(line.dropFirst(9)), ask]
        for part in parts where !part.isEmpty { try await wire.send(part) }
        return wire
      }
      var wires = [try await connect(asking: ask), try await connect(asking: ask)]
      for index in wires.indices { #expect(await wires[index].answer()?.status == 200) }
      // It is closed when the line has come: what it sent after that could find the connection closed.
      var third = try await connect(asking: "")
      #expect(await third.answer()?.status == 503, "its network has as many as it may")
      // The proxy's own connections are not counted.
      for _ in 0..<4 { #expect(try await bench.ask("GET", "/health").status == 200) }
      var broken = try await bench.wire()
      try await broken.send("PROXY TCP4 203.0.113.5\r\n" + ask)
      #expect(await broken.endsQuietly())
    }
  }

  @Test func `B8: the PROXY protocol of others has no effect`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      try await wire.send("PROXY TCP4 203.0.113.5 192.0.2.1 4711 443\r\n" + request("GET", "/health"))
      #expect(await wire.answer()?.status == 400)
    }
  }

  @Test func `B8: without a trusted proxy its headers have no effect`() async throws {
    try await Bench.run { bench in
      _ = try await bench.post(
        CannedSessions.plain, headers: ["X-Forwarded-For: 203.0.113.5", "Forwarded: for=1.2.3.4"])
      #expect(bench.sessions.seen.remotes == ["127.0.0.1"])
    }
  }
}
