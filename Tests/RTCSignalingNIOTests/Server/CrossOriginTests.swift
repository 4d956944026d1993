import RTCSignaling
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct CrossOriginTests {
  @Test func `pages elsewhere may watch a cast with a token`() async throws {
    try await Bench.run(SignalingServerConfiguration(gate: AccessGate(secret: AccessToken("sesame")))) { bench in
      let origin = "Origin: https://player.example"
      let preflight = try await bench.ask(
        "OPTIONS", "/whep",
        headers: [origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"])
      #expect(preflight.status == 204)
      #expect(preflight["access-control-allow-origin"] == "*")
      #expect(preflight["access-control-allow-methods"] == "POST, GET, HEAD, OPTIONS")
      #expect(
        preflight["access-control-allow-headers"]
          == "Authorization, Content-Type, If-Match, RTCast-Client, RTCast-Checks")
      let opened = try await bench.post(CannedSessions.plain, headers: [origin, "Authorization: Bearer sesame"])
      #expect(opened.status == 201)
      #expect(opened["access-control-allow-origin"] == "*")
      #expect(opened["access-control-expose-headers"]?.contains("Location, ETag, Link") == true)
      let session = try await bench.ask("OPTIONS", "/whep/session/session-1", headers: [origin])
      #expect(session["access-control-allow-methods"] == "PATCH, DELETE, GET, HEAD, OPTIONS")
    }
  }

  @Test func `a foreign site cannot reach a cast that is meant for this machine`() async throws {
    try await Bench.run { bench in
      #expect(try await bench.post(CannedSessions.plain, headers: ["Origin: https://evil.example"]).status == 403)
      #expect(try await bench.post(CannedSessions.plain, headers: ["Origin: null"]).status == 403)
      var wire = try await bench.wire()
      try await wire.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
      #expect(await wire.answer()?.status == 403)
      #expect(bench.sessions.seen.offers.isEmpty)
    }
  }
}
