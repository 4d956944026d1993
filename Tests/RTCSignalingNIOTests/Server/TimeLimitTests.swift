import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct TimeLimitTests {
  @Test(arguments: [
    "G", "GET / HTTP/1.1\r\nHost: loc",
    "POST /whep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\nContent-Length: 9\r\n\r\nv=0",
  ]) func `a request that never gets whole is given up`(text: String) async throws {
    try await Bench.run(limits: {
      $0.requestTimeout = 40; $0.lingerTimeout = 10
    }) { bench in
      var wire = try await bench.wire()
      try await wire.send(text)
      #expect(await wire.answer()?.status == 408)
      #expect(await wire.endsQuietly())
    }
  }

  @Test func `a connection on which nothing is asked is closed`() async throws {
    try await Bench.run(limits: { $0.firstByteTimeout = 40 }) { bench in
      var wire = try await bench.wire()
      #expect(await wire.endsQuietly())
    }
  }

  @Test func `a connection that rests too long between requests is closed`() async throws {
    try await Bench.run(limits: { $0.idleTimeout = 40 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(request("GET", "/health"))
      #expect(await wire.answer()?.status == 200)
      #expect(await wire.endsQuietly())
    }
  }

  @Test func `a cast that does not answer costs the viewer only the time limit`() async throws {
    try await Bench.run(limits: { $0.answerTimeout = 40 }) { bench in
      let answer = try await bench.post(CannedSessions.waiting)
      #expect(answer.status == 503)
      #expect(answer["retry-after"] == "1")
      bench.sessions.release()
      await bench.sessions.closings.reach(1)
      #expect(bench.sessions.seen.open.isEmpty)
    }
  }
}
