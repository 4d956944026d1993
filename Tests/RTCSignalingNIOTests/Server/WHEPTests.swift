import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct WHEPTests {
  @Test func `an offer is answered and the session lives until it is deleted`() async throws {
    try await Bench.run { bench in
      let opened = try await bench.post(CannedSessions.plain)
      #expect(opened.status == 201)
      #expect(opened.body == "v=0\r\ns=answer\r\n")
      #expect(opened["content-type"] == "application/sdp")
      #expect(opened["etag"] == "\"1\"")
      #expect(opened["accept-patch"] == "application/trickle-ice-sdpfrag")
      let resource = "/" + (try #require(opened["location"]))
      #expect(resource == "/whep/session/session-1")
      #expect(bench.sessions.seen.remotes == ["127.0.0.1"])

      let type = "Content-Type: application/trickle-ice-sdpfrag"
      let trickled = try await bench.ask("PATCH", resource, headers: [type, "If-Match: \"1\""], body: "a=candidate:1")
      #expect(trickled.status == 204)
      #expect(trickled["content-length"] == nil)
      let stale = try await bench.ask("PATCH", resource, headers: [type, "If-Match: \"0\""], body: "a=candidate:1")
      #expect(stale.status == 412)
      let restarted = try await bench.ask("PATCH", resource, headers: [type, "If-Match: *"], body: "a=ice-ufrag:new")
      #expect(restarted.status == 200)
      #expect(restarted["etag"] == "\"2\"")
      #expect(restarted.body == "a=ice-ufrag:ours\r\n")
      #expect(bench.sessions.seen.etags == ["1", "0", "*"])

      #expect(try await bench.ask("GET", "/health").body == "{\"status\":\"live\",\"viewers\":1,\"streams\":[]}\n")
      #expect(try await bench.ask("DELETE", resource).status == 200)
      #expect(try await bench.ask("DELETE", resource).status == 404)
      #expect(try await bench.ask("PATCH", resource, headers: [type], body: "a=x").status == 404)
    }
  }

  @Test func `a viewer that offers nothing is offered the cast`() async throws {
    try await Bench.run { bench in
      let opened = try await bench.ask("POST", "/whep", headers: [], body: "")
      #expect(opened.status == 201)
      #expect(opened.body == "v=0\r\ns=our offer\r\n")
      let resource = "/" + (try #require(opened["location"]))
      let type = "Content-Type: application/sdp"
      #expect(try await bench.ask("PATCH", resource, headers: [type], body: "rubbish").status == 422)
      #expect(try await bench.ask("PATCH", resource, headers: [type], body: "v=0\r\ns=answer\r\n").status == 204)
      #expect(bench.sessions.seen.answers == ["v=0\r\ns=answer\r\n"])
      #expect(try await bench.ask("PATCH", "/whep/session/none", headers: [type], body: "v=0\r\n").status == 404)
    }
  }

  @Test func `a session that is there can be seen to be there`() async throws {
    try await Bench.run { bench in
      let resource = "/" + (try #require(try await bench.post(CannedSessions.plain)["location"]))
      for method in ["GET", "HEAD"] {
        let found = try await bench.ask(method, resource, toHead: true)
        #expect(found.status == 204 && found["etag"] == "\"1\"")
        #expect(found["accept-patch"] == "application/trickle-ice-sdpfrag")
        #expect(try await bench.ask(method, "/whep/session/none", toHead: true).status == 404)
        let endpoint = try await bench.ask(method, "/whep", toHead: true)
        #expect(endpoint.status == 204 && endpoint["accept-post"] == "application/sdp")
      }
    }
  }

  @Test func `STUN and TURN servers are told to whoever may come in`() async throws {
    let link =
      #"<turn:t.example?transport=tcp>; rel="ice-server"; username="u"; credential="p\"w"; credential-type="password""#
    try await Bench.run(SignalingServerConfiguration(gate: AccessGate(secret: AccessToken("sesame")))) { bench in
      let server = try ICEServer(parsing: ["turn:t.example?transport=tcp"], username: "u", credential: "p\"w")
      bench.sessions.servers.withLock { $0 = [server, ICEServer([try! ICEServerURL(parsing: "stun:s.example")])] }
      let right = "Authorization: Bearer sesame"
      let links = [link, #"<stun:s.example>; rel="ice-server""#]
      func told(_ answer: Wire.Answer) -> [String] { answer.headers.filter { $0.0 == "link" }.map(\.1) }
      #expect(told(try await bench.post(CannedSessions.plain, headers: [right])) == links)
      #expect(told(try await bench.ask("OPTIONS", "/whep", headers: [right])) == links)
      #expect(told(try await bench.ask("OPTIONS", "/whep")).isEmpty, "nobody without the token")
      let preflight = ["Access-Control-Request-Method: POST", "Origin: https://a.example", right]
      #expect(told(try await bench.ask("OPTIONS", "/whep", headers: preflight)).isEmpty)
      #expect(ICEServer.parse(links: links).first == server, "as our own client reads it")
    }
  }

  @Test func `a stream is named by its path`() async throws {
    try await Bench.run { bench in
      let known = try await bench.post(CannedSessions.plain, to: "/whep/main")
      #expect(known.status == 201)
      let unknown = try await bench.post(CannedSessions.plain, to: "/whep/other")
      #expect(unknown.status == 404)
      #expect(bench.sessions.seen.streams == ["main", "other"])
    }
  }

  @Test func `what the cast refuses is refused with its sentence`() async throws {
    try await Bench.run { bench in
      let refused = try await bench.post(CannedSessions.noCodec)
      #expect(refused.status == 406)
      #expect(refused.body.contains("VP8"))
      #expect(try await bench.post("hello").status == 400)
      #expect(try await bench.ask("POST", "/whep", body: "v=0").status == 415)
      #expect(try await bench.ask("PUT", "/whep")["allow"] == "POST, GET, HEAD, OPTIONS")
      #expect(try await bench.ask("GET", "/nothing").status == 404)
    }
  }

  @Test func `a body that is not text is malformed`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      let head = "POST /whep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\nContent-Length: 3\r\n\r\n"
      var bytes = wire.channel.allocator.buffer(string: head)
      bytes.writeBytes([0xFF, 0xFE, 0])
      try await wire.channel.writeAndFlush(bytes)
      #expect(await wire.answer()?.status == 400)
      #expect(bench.sessions.seen.offers.isEmpty)
    }
  }

  @Test func `a token is asked for where there is one`() async throws {
    try await Bench.run(SignalingServerConfiguration(gate: AccessGate(secret: AccessToken("sesame")))) { bench in
      let refused = try await bench.post(CannedSessions.plain)
      #expect(refused.status == 401)
      #expect(refused["www-authenticate"] == "Bearer realm=\"rtcast\"")
      #expect(try await bench.post(CannedSessions.plain, headers: ["Authorization: Bearer open"]).status == 401)
      #expect(try await bench.post(CannedSessions.plain, headers: ["Authorization: Bearer sesame"]).status == 201)
      #expect(try await bench.ask("GET", "/").status == 200)
      #expect(try await bench.ask("GET", "/health").body == "{\"status\":\"live\"}\n")
      #expect(bench.server.link.hasSuffix("/#token=sesame"))
    }
  }

  @Test func `a connection serves many requests`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      for number in 1...20 {
        try await wire.send(
          request("POST", "/whep", headers: ["Content-Type: application/sdp"], body: CannedSessions.plain))
        #expect(await wire.answer()?["location"] == "whep/session/session-\(number)")
      }
      try await wire.send(request("GET", "/nothing"))
      #expect(await wire.answer()?.status == 404)
      try await wire.send(request("GET", "/health", headers: ["Connection: close"]))
      #expect(await wire.answer()?.status == 200)
      #expect(await wire.endsQuietly())
    }
  }
}
