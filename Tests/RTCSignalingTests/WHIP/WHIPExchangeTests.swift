import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct WHIPExchangeTests {
  func exchange(_ url: String = "https://sfu.example/whip", token: String? = "sesame") throws -> WHIPExchange {
    try WHIPExchange(endpoint: url, token: token)
  }

  func receive(
    _ exchange: inout WHIPExchange, _ status: Int, _ headers: [String: String] = [:], body: String = ""
  ) throws(WHIPError) -> WHIPExchange.Step {
    try exchange.receive(
      WHIPResponse(
        status: status, headers: headers.map { HTTPHeader(name: $0.key, value: $0.value) }, body: body))
  }

  @Test func `an accepted offer is a publication`() throws {
    var exchange = try exchange()
    let step = try receive(
      &exchange, 201,
      [
        "content-type": "application/sdp; charset=utf-8", "location": "session/7", "etag": "\"e\"",
        "link": "<stun:s>; rel=ice-server",
      ], body: "v=0\r\n")
    guard case .published(let publication) = step else { Issue.record("another outcome"); return }
    #expect(publication.resource.description == "https://sfu.example/session/7")
    #expect(publication.etag == "\"e\"")
    #expect(publication.iceServers == [try ICEServer(parsing: ["stun:s"])])
    #expect(publication.authorization == "Bearer sesame")
  }

  @Test func `a server's own offer is told from a refusal`() throws {
    var exchange = try exchange()
    let step = try receive(
      &exchange, 406, ["content-type": "application/sdp", "location": "session/7"], body: "v=0\r\n")
    guard case .countered(let publication) = step else { Issue.record("another outcome"); return }
    #expect(publication.resource.description == "https://sfu.example/session/7")
    #expect(throws: WHIPError.httpStatus(406, method: "POST", sentence: "no codec")) {
      try receive(&exchange, 406, ["content-type": "text/plain"], body: "no codec")
    }
  }

  @Test func `a redirect is followed and keeps the token at its origin`() throws {
    var exchange = try exchange()
    #expect(exchange.authorization == "Bearer sesame")
    #expect(try receive(&exchange, 307, ["location": "/other"]) == .follow)
    #expect(exchange.target.description == "https://sfu.example/other")
    #expect(exchange.authorization == "Bearer sesame")
    #expect(try receive(&exchange, 308, ["location": "https://elsewhere.example/whip"]) == .follow)
    #expect(exchange.authorization == nil)
  }

  @Test func `a token follows a hub's redirect to another hub, and no other one`() throws {
    var exchange = try exchange("https://hub1.example/whep/desk")
    #expect(
      try receive(&exchange, 307, ["location": "https://hub2.example/whep/desk", "RTCast-Cluster": "1"]) == .follow)
    #expect(exchange.authorization == "Bearer sesame")
    guard
      case .published(let publication) = try receive(
        &exchange, 201, ["content-type": "application/sdp", "location": "session/7"], body: "v=0\r\n")
    else {
      Issue.record("another outcome")
      return
    }
    #expect(publication.resource.description == "https://hub2.example/whep/session/7")
    #expect(publication.authorization == "Bearer sesame")

    // A server that does not have the token may not pass it on.
    var stranger = try self.exchange("https://hub1.example/whep/desk")
    _ = try receive(&stranger, 307, ["location": "https://elsewhere.example/whep/desk"])
    _ = try receive(&stranger, 307, ["location": "https://hub2.example/whep/desk", "RTCast-Cluster": "1"])
    #expect(stranger.authorization == nil)
  }

  @Test func `redirects end`() throws {
    var circle = try exchange()
    _ = try receive(&circle, 307, ["location": "/b"])
    #expect(throws: WHIPError.redirectLoop(WebAddress("https://sfu.example/whip")!)) {
      try receive(&circle, 307, ["location": "/whip"])
    }
    var chain = try exchange()
    for index in 0..<5 { _ = try receive(&chain, 307, ["location": "/\(index)"]) }
    #expect(throws: WHIPError.redirectLoop(WebAddress("https://sfu.example/5")!)) {
      try receive(&chain, 307, ["location": "/5"])
    }
  }

  @Test func `a redirect into the clear is not`() throws {
    var exchange = try exchange()
    #expect(throws: WHIPError.insecureRedirect("http://sfu.example/whip")) {
      try receive(&exchange, 307, ["location": "http://sfu.example/whip"])
    }
  }

  @Test func `a redirect that would change the method is reported`() throws {
    var exchange = try exchange()
    #expect(throws: WHIPError.badRedirect(status: 302, location: "/login")) {
      try receive(&exchange, 302, ["location": "/login"])
    }
    #expect(throws: WHIPError.badRedirect(status: 307, location: nil)) { try receive(&exchange, 307) }
  }

  @Test func `rubbish is told from an answer`() throws {
    let cases: [([String: String], String, WHIPError)] = [
      (["content-type": "text/html", "location": "/r"], "<html>", .notSDP(contentType: "text/html")),
      (["content-type": "application/sdp", "location": "/r"], "{}", .notSDP(contentType: "application/sdp")),
      (["location": "/r"], "hello", .notSDP(contentType: nil)),
      (["content-type": "application/sdp"], "v=0\r\n", .badLocation(nil)),
      (["content-type": "application/sdp", "location": "mailto:x"], "v=0\r\n", .badLocation("mailto:x")),
    ]
    for (headers, body, expected) in cases {
      var exchange = try exchange()
      #expect(throws: expected) { try receive(&exchange, 201, headers, body: body) }
    }
  }

  @Test func `other statuses say whose fault it is`() throws {
    var exchange = try exchange(token: nil)
    #expect(throws: WHIPError.unauthorized(status: 401, hadToken: false)) { try receive(&exchange, 401) }
    #expect(throws: WHIPError.httpStatus(405, method: "POST", sentence: "no such")) {
      try receive(&exchange, 405, body: "no\tsuch\r\nsecond line")
    }
    let error = WHIPError.httpStatus(405, method: "POST", sentence: "")
    #expect(error.description == "The server answered 405 to the WHIP POST: is this the WHIP URL?")
    #expect(throws: WHIPError.httpStatus(200, method: "POST", sentence: "")) {
      try receive(&exchange, 200, body: "<!doctype html>")
    }
  }

  @Test func `a bad URL or token is the caller's fault`() {
    #expect(throws: WHIPError.badURL("sfu.example/whip")) { try exchange("sfu.example/whip") }
    #expect(throws: WHIPError.badToken) { try exchange(token: "a b") }
  }
}
