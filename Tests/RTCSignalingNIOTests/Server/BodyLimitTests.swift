import NIOCore
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct BodyLimitTests {
  let head = "POST /whep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"

  @Test func `ten megabytes are refused before they are sent`() async throws {
    try await Bench.run(limits: { $0.lingerTimeout = 50 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(head + "Content-Length: 10485760\r\n\r\n")
      let answer = await wire.answer()
      #expect(answer?.status == 413)
      #expect(answer?["connection"] == "close")
      #expect(await wire.endsQuietly())
    }
  }

  @Test func `ten megabytes sent anyway are not read`() async throws {
    try await Bench.run(limits: { $0.lingerTimeout = 50 }) { bench in
      var wire = try await bench.wire()
      let body = ByteBuffer(repeating: UInt8(ascii: "a"), count: 10 << 20)
      wire.channel.write(ByteBuffer(string: head + "Content-Length: 10485760\r\n\r\n"), promise: nil)
      let sent = wire.channel.eventLoop.makePromise(of: Void.self)
      wire.channel.writeAndFlush(body, promise: sent)
      #expect(await wire.answer()?.status == 413)
      await #expect(throws: (any Error).self) { try await sent.futureResult.get() }  // cut off in the middle
      #expect(bench.sessions.seen.offers.isEmpty)
      #expect(try await bench.post(CannedSessions.plain).status == 201)
    }
  }

  @Test func `a body in chunks is counted as it comes`() async throws {
    try await Bench.run(limits: {
      $0.lingerTimeout = 50; $0.bodyBytes = 1000
    }) { bench in
      var wire = try await bench.wire()
      try await wire.send(head + "Transfer-Encoding: chunked\r\n\r\n")
      let chunk = "190\r\n" + String(repeating: "a", count: 400) + "\r\n"
      try await wire.send(chunk + chunk + chunk)
      #expect(await wire.answer()?.status == 413)
      #expect(await wire.endsQuietly())
      #expect(bench.sessions.seen.offers.isEmpty)
    }
  }

  @Test func `a body in chunks within the limit is whole`() async throws {
    try await Bench.run { bench in
      var wire = try await bench.wire()
      try await wire.send(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nv=0\r\n2\r\n\r\n\r\n0\r\n\r\n")
      #expect(await wire.answer()?.status == 201)
      #expect(bench.sessions.seen.offers == ["v=0\r\n"])
    }
  }

  @Test func `a client that asks first is told to go on or not to bother`() async throws {
    try await Bench.run(limits: { $0.lingerTimeout = 50 }) { bench in
      var wire = try await bench.wire()
      try await wire.send(head + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(await wire.answer()?.status == 100)
      try await wire.send(CannedSessions.plain)
      #expect(await wire.answer()?.status == 201)
      try await wire.send(
        "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      #expect(await wire.answer()?.status == 404)
      #expect(await wire.endsQuietly())
    }
  }
}
