import Glibc
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Testing

/// Rights of signed links at the moment of their use.
@Suite(.timeLimit(.minutes(1))) struct LinkUseTests {
  private let secret = AccessToken("sesame-sesame")!

  private func link(uses: Int? = nil) -> (id: String, headers: [String]) {
    let link = SignedLink(.watch, issued: Int64(time(nil)), uses: uses)
    return (link.id, ["Authorization: Bearer " + link.signed(with: secret)])
  }

  private func run(_ body: (Bench) async throws -> Void) async throws {
    try await Bench.run(SignalingServerConfiguration(gate: AccessGate(secret: secret)), body)
  }

  @Test(arguments: [nil, 5]) func `B4: a link that is revoked while its offer arrives opens nothing`(uses: Int?)
    async throws
  {
    try await run { bench in
      let (id, headers) = link(uses: uses)
      var wire = try await bench.wire()
      // The server has judged the head when its "100 Continue" is here.
      let body = CannedSessions.plain
      let more = ["Content-Type: application/sdp", "Content-Length: \(body.utf8.count)", "Expect: 100-continue"]
      let lines = ["POST /whep HTTP/1.1", "Host: 127.0.0.1"] + headers + more
      try await wire.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
      #expect(await wire.answer()?.status == 100)
      _ = try bench.server.revoke(id)
      try await wire.send(body)
      #expect(await wire.answer()?.status == 401)
      #expect(bench.sessions.seen.offers.isEmpty)
    }
  }

  @Test func `B4: a link that is revoked while the cast is asked keeps no session`() async throws {
    try await run { bench in
      let (id, headers) = link()
      async let answer = bench.post(CannedSessions.waiting, headers: headers)
      await bench.sessions.arrivals.reach(1)
      _ = try bench.server.revoke(id)
      bench.sessions.release()
      #expect(try await answer.status == 401)
      await bench.sessions.closings.reach(1)
      #expect(bench.sessions.seen.open.isEmpty)
    }
  }

  @Test func `B4: a revocation ends sessions that have not connected yet`() async throws {
    try await run { bench in
      let (id, headers) = link()
      #expect(try await bench.post(CannedSessions.plain, headers: headers).status == 201)
      _ = try bench.server.revoke(id)
      await bench.sessions.closings.reach(1)
      #expect(bench.sessions.seen.open.isEmpty)
    }
  }

  @Test func `B5: a picture is a use of a link for so many`() async throws {
    try await run { (bench: Bench) async throws in
      let headers = link(uses: 1).headers
      let named = headers + ["RTCast-Client: first-0123456789abcdef"]
      // No picture is there (404), and the use is counted all the same.
      #expect(try await bench.ask("GET", "/snapshot.webp", headers: named).status == 404)
      #expect(try await bench.ask("GET", "/snapshot.webp", headers: named).status == 404)
      #expect(try await bench.ask("GET", "/snapshot.webp", headers: headers).status == 401)
      #expect(try await bench.post(CannedSessions.plain, headers: headers).status == 401)
      #expect(try await bench.post(CannedSessions.plain, headers: named).status == 201)
    }
  }

  @Test func `B5: a client's name has one session by a link for so many`() async throws {
    try await run { bench in
      let named = link(uses: 1).headers + ["RTCast-Client: first-0123456789abcdef"]
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<3 { group.addTask { try await bench.post(CannedSessions.plain, headers: named).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [201, 201, 201])
      await bench.sessions.closings.reach(2)
      #expect(bench.sessions.seen.open.count == 1)
    }
  }

  @Test func `B5: an offer that is refused frees no place of somebody who watches`() async throws {
    try await run { (bench: Bench) async throws in
      let headers = link(uses: 1).headers
      let named = headers + ["RTCast-Client: first-0123456789abcdef"]
      #expect(try await bench.post(CannedSessions.plain, headers: named).status == 201)
      #expect(try await bench.post(CannedSessions.noCodec, headers: named).status == 406)
      let other = headers + ["RTCast-Client: other-0123456789abcdef"]
      #expect(try await bench.post(CannedSessions.plain, headers: other).status == 401)
    }
  }
}
