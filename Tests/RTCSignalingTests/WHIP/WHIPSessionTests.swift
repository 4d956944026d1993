import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct WHIPSessionTests {
  @Test(arguments: MediaServerDouble.Kind.allCases)
  func `every media server is published to, told what it takes, and left`(kind: MediaServerDouble.Kind) throws {
    let server = MediaServerDouble(kind)
    var bench = try WHIPBench(server)
    bench.publish()
    bench.give(.candidatesGathered)
    bench.give(.candidatesGathered)
    #expect(bench.actions.contains(.accept(answer: "v=0\r\ns=answer 1\r\n")))
    #expect(server.candidates == ([.liveKitIngress, .plain].contains(kind) ? [] : ["candidates 1", "candidates 2"]))
    #expect(bench.end == nil && bench.reports.isEmpty)
    bench.give(.leave)
    #expect(!server.isOpen)
    #expect(bench.end == .left)
    #expect(bench.requests.allSatisfy { $0.authorization == "Bearer sesame" })
  }

  @Test(arguments: MediaServerDouble.Kind.allCases)
  func `a lost path is restarted where the server can, and published anew where not`(kind: MediaServerDouble.Kind)
    throws
  {
    let server = MediaServerDouble(kind)
    var bench = try WHIPBench(server)
    bench.publish()
    bench.now = bench.now + .seconds(60)
    bench.give(.path(.silent), .path(.lost))
    if [.liveKit, .liveKitIngress].contains(kind) {
      #expect(server.restarts == ["restart 1"] || server.restarts == ["restart 1", "restart 2"])
      #expect(bench.fragmentsAccepted.first?.hasPrefix("a=ice-ufrag:server2") == true)
      #expect(bench.reports.first == .restarted)
      #expect(bench.connections == 1)
    } else {
      #expect(bench.fragmentsAccepted.isEmpty)
      #expect(bench.methods == ["POST", "PATCH", "DELETE", "POST"])
      #expect(bench.connections == 2 && server.isOpen)
      bench.give(.connected)
      #expect(bench.reports == [.interrupted(.unreachable, retryIn: .zero), .resumed])
    }
  }

  @Test(arguments: [MediaServerDouble.Kind.mediaMTX, .galene, .ovenMediaEngine])
  func `a server without restarts keeps a session that is silent for a moment`(kind: MediaServerDouble.Kind) throws {
    var bench = try WHIPBench(MediaServerDouble(kind))
    bench.publish()
    bench.give(.path(.silent))
    bench.wait(.seconds(2))
    bench.give(.path(.good))
    bench.wait(.seconds(60))
    bench.give(.path(.silent))
    bench.wait(.seconds(2))
    #expect(bench.methods == ["POST", "PATCH"], "asked once, never again")
    #expect(bench.connections == 1)
    bench.wait(.seconds(2))
    #expect(bench.connections == 2, "silent for too long")
  }

  @Test func `the servers that OPTIONS and 201 name are used`() throws {
    var bench = try WHIPBench(MediaServerDouble(.liveKit))
    bench.publish()
    #expect(bench.servers.map { $0.urls.map(\.description) } == [["turn:t.example:443?transport=tcp"]])
    var early = try WHIPBench { request in
      request.method == .options ? MediaServerDouble(.galene).answer(request) : nil
    }
    early.give(.start)
    #expect(early.servers.count == 2)
  }

  @Test func `candidates before the answer wait for it and go together`() throws {
    var bench = try WHIPBench { _ in nil }
    bench.give(.start)
    bench.give(.candidatesGathered)
    bench.give(.candidatesGathered)
    let server = MediaServerDouble(.liveKit)
    let post = try #require(bench.requests.last)
    bench.server = { server.answer($0) }
    bench.give(.answered(post.id, server.answer(post)))
    #expect(server.candidates == ["candidates 1"])
    #expect(bench.requests.last?.ifMatch == "ufrag1")
  }

  @Test func `a restart does not wait for candidates that are not answered, and says all`() throws {
    let server = MediaServerDouble(.liveKit)
    var bench = try WHIPBench { $0.method == .patch && $0.ifMatch != "*" ? nil : server.answer($0) }
    bench.publish()
    bench.give(.candidatesGathered)
    let hanging = try #require(bench.requests.last)
    bench.give(.candidatesGathered)
    bench.give(.path(.silent))
    #expect(bench.actions.contains(.cancel(hanging.id)))
    #expect(server.restarts == ["restart 2"])
    bench.give(.candidatesGathered)
    #expect(bench.requests.last?.ifMatch == "ufrag2", "the tag of the new generation")
  }

  @Test func `a session that the server forgot is opened anew`() throws {
    let server = MediaServerDouble(.liveKit)
    var bench = try WHIPBench(server)
    bench.publish()
    bench.now = bench.now + .seconds(60)
    server.trouble = WHIPResponse(status: 404)
    bench.give(.path(.silent))
    #expect(bench.methods == ["POST", "PATCH", "POST"], "nothing is left to delete")
    server.trouble = nil
    _ = server.answer(WHIPRequest(id: 0, .delete, WebAddress("https://sfu.example/")!))
    bench.wait(.seconds(2))
    #expect(server.isOpen)
    bench.give(.connected)
    #expect(bench.reports.last == .resumed)
  }

  @Test func `a server that is away is asked again with growing pauses, for ever`() throws {
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench(server)
    bench.publish()
    bench.now = bench.now + .seconds(60)
    server.trouble = WHIPResponse(status: 502)
    bench.give(.disconnected(.unreachable))
    bench.wait(.seconds(600))
    let posts = bench.methods.count { $0 == "POST" }
    #expect((20...50).contains(posts), "\(posts)")
    let pauses = bench.reports.compactMap { if case .refused(_, let pause) = $0 { pause.milliseconds } else { nil } }
    #expect(pauses.first! <= 500 && pauses.last! >= 15_000 && pauses.allSatisfy { $0 <= 30_000 })
    server.trouble = nil
    _ = server.answer(WHIPRequest(id: 0, .delete, WebAddress("https://sfu.example/")!))
    bench.wait(.seconds(31))
    bench.give(.connected)
    #expect(bench.reports.last == .resumed)
  }

  @Test func `a goodbye may be a restart of the server, and is its last word when it refuses`() throws {
    let server = MediaServerDouble(.mediaMTX)
    var bench = try WHIPBench(server)
    bench.publish()
    bench.now = bench.now + .seconds(60)
    _ = server.answer(WHIPRequest(id: 0, .delete, WebAddress("https://sfu.example/")!))
    bench.give(.disconnected(.goodbye))
    #expect(bench.methods == ["POST"], "the server is about to be gone")
    bench.wait(.seconds(1))
    #expect(server.isOpen && bench.methods == ["POST", "POST"])
    bench.give(.connected)
    bench.now = bench.now + .seconds(60)
    server.trouble = WHIPResponse(status: 400)
    bench.give(.disconnected(.goodbye))
    bench.wait(.seconds(1))
    #expect(bench.end == .goodbye)
  }

  @Test func `a server that says goodbye again and again is left`() throws {
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench(server)
    bench.publish()
    for _ in 0..<4 {
      _ = server.answer(WHIPRequest(id: 0, .delete, WebAddress("https://sfu.example/")!))
      bench.give(.disconnected(.goodbye))
      bench.wait(.seconds(3))
      bench.give(.connected)
    }
    #expect(bench.end == .goodbye)
    #expect(bench.connections == 4)
  }

  @Test func `for whoever watches a goodbye is the end, and so is a server that stays away`() throws {
    var options = WHIPSession.Options()
    (options.endsAtGoodbye, options.persistence) = (true, .seconds(30))
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench(options) { server.answer($0) }
    bench.publish()
    bench.give(.disconnected(.goodbye))
    #expect(bench.end == .goodbye)
    let other = MediaServerDouble(.plain)
    var patient = try WHIPBench(options) { other.answer($0) }
    patient.publish()
    other.trouble = WHIPResponse(status: 404)
    patient.give(.disconnected(.unreachable))
    patient.wait(.seconds(29))
    #expect(patient.end == nil)
    patient.wait(.seconds(60))
    #expect(patient.end == .unconnected(.unreachable))
  }

  @Test func `the first offer is refused at once, unless the server names a short time`() throws {
    let server = MediaServerDouble(.plain)
    server.trouble = WHIPResponse(status: 503)
    var bench = try WHIPBench(server)
    bench.give(.start)
    #expect(bench.end == .refused(.httpStatus(503, method: "POST", sentence: "")))
    server.trouble = WHIPResponse(status: 503, headers: [.init(name: "Retry-After", value: "2")])
    var patient = try WHIPBench(server)
    patient.give(.start)
    #expect(patient.end == nil)
    patient.wait(.seconds(1))
    #expect(patient.methods == ["POST"])
    server.trouble = nil
    patient.wait(.seconds(2))
    #expect(patient.methods == ["POST", "POST"] && server.isOpen)
  }

  @Test func `a token that is refused later is the end`() throws {
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench(server)
    bench.publish()
    server.trouble = WHIPResponse(status: 401)
    bench.give(.disconnected(.unreachable))
    bench.wait(.seconds(5))
    #expect(bench.end == .refused(.unauthorized(status: 401, hadToken: true)))
  }

  @Test func `an offer that never connects is given back`() throws {
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench(server)
    bench.give(.start)
    bench.give(.disconnected(.unreachable))
    #expect(!server.isOpen)
    #expect(bench.end == .unconnected(.unreachable))
  }

  @Test func `whoever leaves while the offer is under way deletes what comes of it`() throws {
    var bench = try WHIPBench { _ in nil }
    bench.give(.start)
    let post = try #require(bench.requests.last)
    bench.give(.leave)
    #expect(bench.end == nil)
    let server = MediaServerDouble(.ovenMediaEngine)
    bench.server = { server.answer($0) }
    bench.give(.answered(post.id, server.answer(post)))
    #expect(!server.isOpen && bench.end == .left)
    #expect(bench.requests.last?.target.description == "https://sfu.example/app/stream/AbCd?direction=whip")
  }

  @Test func `a server that does not answer the goodbye is left all the same`() throws {
    let server = MediaServerDouble(.plain)
    var bench = try WHIPBench { $0.method == .delete ? nil : server.answer($0) }
    bench.publish()
    bench.give(.leave)
    #expect(bench.end == nil)
    bench.wait(.seconds(3))
    #expect(bench.end == .left)
  }

  @Test func `a server that offers itself is answered`() throws {
    let answer = WHIPResponse(
      status: 406,
      headers: [.init(name: "Content-Type", value: "application/sdp"), .init(name: "Location", value: "/session/1")],
      body: "v=0\r\ns=their offer\r\n")
    var bench = try WHIPBench { request in
      switch request.method {
      case .post: answer
      case .patch, .options, .delete: WHIPResponse(status: 204)
      }
    }
    bench.publish()
    #expect(bench.actions.contains(.answer(offer: "v=0\r\ns=their offer\r\n")))
    #expect(bench.requests.last?.contentType == "application/sdp")
    #expect(bench.requests.last?.body == "v=0\r\ns=our answer\r\n")
    #expect(bench.requests.last?.ifMatch == nil && bench.end == nil)
    bench.server = { $0.method == .patch ? WHIPResponse(status: 422) : answer }
    var refused = try WHIPBench { $0.method == .patch ? WHIPResponse(status: 422) : answer }
    refused.give(.start)
    refused.wait(.seconds(3))
    #expect(refused.end == .refused(.httpStatus(422, method: "PATCH", sentence: "")))
  }
}
