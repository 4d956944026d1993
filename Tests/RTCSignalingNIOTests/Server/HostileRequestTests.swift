import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct HostileRequestTests {
  @Test(arguments: [
    "GET /" + String(repeating: "a", count: 20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "a", count: 20_000) + "\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\n" + String(repeating: "X-Y: z\r\n", count: 3000) + "\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\n" + String(repeating: "a", count: 20_000),
  ]) func `a head without measure is refused`(text: String) async throws {
    try await Bench.run(limits: { $0.lingerTimeout = 50 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(text)
      let answer = await wire.answer()
      #expect(answer?.status == 431)
      #expect(await wire.endsQuietly())
    }
  }

  @Test(arguments: [
    "hello\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
    "POST /whep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST /whep HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ]) func `what is not HTTP is refused`(text: String) async throws {
    try await Bench.run(limits: { $0.lingerTimeout = 50 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(text)
      #expect(await wire.answer()?.status == 400)
      #expect(await wire.endsQuietly())
      #expect(try await bench.ask("GET", "/health").status == 200)
    }
  }

  @Test func `a second request before the first answer ends the connection`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      let post = request("POST", "/whep", headers: ["Content-Type: application/sdp"], body: CannedSessions.waiting)
      try await wire.send(post + post)
      #expect(await wire.answer() == nil)
      bench.sessions.release()
      await bench.sessions.closings.reach(1)  // the session nobody will learn of is given back
      #expect(bench.sessions.seen.open.isEmpty)
    }
  }

  @Test func `the work on an offer is cancelled when its client leaves`() async throws {
    try await Bench.run { bench in
      let wire = try await bench.wire()
      try await wire.send(
        request("POST", "/whep", headers: ["Content-Type: application/sdp"], body: CannedSessions.waiting))
      await bench.sessions.arrivals.reach(1)
      try await wire.close()
      // The offer would wait for ever: nothing releases it.
      await bench.sessions.closings.reach(1)
      #expect(bench.sessions.seen.cancelled == 1 && bench.sessions.seen.open.isEmpty)
    }
  }

  @Test func `a client that leaves before its answer leaves no session`() async throws {
    try await Bench.run { bench in
      let wire = try await bench.wire()
      try await wire.send(
        request("POST", "/whep", headers: ["Content-Type: application/sdp"], body: CannedSessions.waiting))
      await bench.sessions.arrivals.reach(1)
      try await wire.close()
      // The server has seen the end of the first connection when it answers on a later one.
      #expect(try await bench.ask("GET", "/health").status == 200)
      bench.sessions.release()
      await bench.sessions.closings.reach(1)
      #expect(bench.sessions.seen.open.isEmpty)
    }
  }
}
