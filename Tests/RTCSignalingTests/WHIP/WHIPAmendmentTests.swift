import RTCPrimitives
import RTCSignaling
import Testing

/// `If-Match`, redirects and refusals of PATCH.
@Suite struct WHIPAmendmentTests {
  /// A server that opens a session with this tag, and answers PATCH as it is told.
  func bench(
    etag: String?, _ patch: @escaping (WHIPRequest) -> WHIPResponse
  ) throws -> WHIPBench {
    var bench = try WHIPBench { request in
      guard request.method != .patch else { return patch(request) }
      guard request.method == .post else { return WHIPResponse(status: 200) }
      var headers: [HTTPHeader] = [
        .init(name: "Content-Type", value: "application/sdp"), .init(name: "Location", value: "/session/1"),
      ]
      if let etag { headers.append(.init(name: "ETag", value: etag)) }
      return WHIPResponse(status: 201, headers: headers, body: "v=0\r\n")
    }
    bench.publish()
    return bench
  }

  @Test(arguments: [
    ("\"a\"", "\"a\""), ("\"a\"", "a"), ("a", "a"), ("a", "\"a\""), ("W/\"a\"", "W/\"a\""), ("W/\"a\"", "\"a\""),
    ("*", "*"),
  ]) func `the tag is found in the spelling that the server compares`(written: String, wanted: String) throws {
    var taken: [String] = []
    var bench = try bench(etag: written) { request in
      guard request.ifMatch == wanted else { return WHIPResponse(status: 412) }
      taken.append(request.body ?? "")
      return WHIPResponse(status: 204)
    }
    bench.give(.candidatesGathered)
    #expect(taken == ["candidates 1"])
  }

  @Test func `a server that wants a tag and named none is shown the star`() throws {
    var bench = try bench(etag: nil) { WHIPResponse(status: $0.ifMatch == "*" ? 204 : 428) }
    bench.give(.candidatesGathered)
    bench.give(.candidatesGathered)
    #expect(bench.requests.suffix(3).map(\.ifMatch) == [nil, "*", "*"])
    #expect(bench.end == nil)
  }

  @Test func `a tag that a refusal names is taken up`() throws {
    var bench = try bench(etag: "\"1\"") {
      $0.ifMatch == "\"2\""
        ? WHIPResponse(status: 204) : WHIPResponse(status: 412, headers: [.init(name: "ETag", value: "\"2\"")])
    }
    bench.give(.candidatesGathered)
    bench.give(.candidatesGathered)
    #expect(bench.requests.suffix(2).map(\.ifMatch) == ["\"2\"", "\"2\""])
  }

  @Test func `a server that is never content is not asked for ever`() throws {
    var count = 0
    var bench = try bench(etag: "\"1\"") { _ in
      count += 1
      return WHIPResponse(status: 412, headers: [.init(name: "ETag", value: "\"\(count)x\"")])
    }
    for _ in 0..<20 { bench.give(.candidatesGathered) }
    #expect(count < 12)
    bench.give(.path(.silent))
    #expect(count < 24)
    #expect(bench.end == nil, "the session goes on")
  }

  @Test(arguments: [400, 404, 405, 415, 422, 501]) func `a server without trickle is left in peace`(status: Int) throws
  {
    var bench = try bench(etag: "\"1\"") { _ in WHIPResponse(status: status) }
    for _ in 0..<3 { bench.give(.candidatesGathered) }
    #expect(bench.methods == ["POST", "PATCH"])
    #expect(bench.end == nil)
  }

  @Test func `a busy server is asked again, but not for ever`() throws {
    var bench = try bench(etag: "\"1\"") { _ in WHIPResponse(status: 503) }
    bench.give(.candidatesGathered)
    bench.wait(.seconds(60))
    #expect(bench.methods.count { $0 == "PATCH" } == 4)
    #expect(bench.end == nil)
  }

  @Test func `a restart is tried again while the server cannot be reached`() throws {
    var bench = try bench(etag: "\"1\"") { _ in WHIPResponse(status: 204) }
    bench.server = { _ in nil }
    bench.give(.path(.lost))
    for _ in 0..<10 {
      let request = try #require(bench.requests.last)
      #expect(request.method == .patch && request.ifMatch == "*")
      bench.give(.failed(request.id, .timeout(request.target, seconds: 5)))
      bench.wait(.seconds(4))
    }
    #expect(bench.methods.count { $0 == "PATCH" } == 11)
    #expect(bench.connections == 1, "the connection may come back yet")
  }

  @Test func `a redirect of PATCH is followed, but not into the clear`() throws {
    var bench = try bench(etag: "\"1\"") { request in
      request.target.description.hasSuffix("/moved")
        ? WHIPResponse(status: 204)
        : WHIPResponse(status: 308, headers: [.init(name: "Location", value: "/moved")])
    }
    bench.give(.candidatesGathered)
    bench.give(.leave)
    #expect(
      bench.requests.suffix(2).map(\.target.description) == Array(repeating: "https://sfu.example/moved", count: 2))
    var lured = try self.bench(etag: "\"1\"") { _ in
      WHIPResponse(status: 307, headers: [.init(name: "Location", value: "http://sfu.example/moved")])
    }
    lured.give(.candidatesGathered)
    #expect(lured.methods == ["POST", "PATCH"])
  }
}
