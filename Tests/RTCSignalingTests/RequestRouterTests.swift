import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct RequestRouterTests {
  let open = RequestRouter(listen: .loopback, gate: .open())
  let locked = RequestRouter(listen: .loopback, gate: AccessGate(secret: AccessToken("sesame")))

  func head(
    _ method: String, _ target: String, host: String? = "127.0.0.1:8080", origin: String? = nil,
    authorization: String? = nil, type: String? = nil, ifMatch: String? = nil
  ) -> RequestHead {
    RequestHead(
      method: method, target: target, host: host, origin: origin, authorization: authorization, contentType: type,
      ifMatch: ifMatch)
  }

  func status(_ action: RequestRouter.Action) -> Int? {
    if case .reply(let reply) = action { reply.status } else { nil }
  }

  @Test func `a proxy with TLS in front is no other site`() {
    let router = RequestRouter(listen: .loopback, gate: .open(), hostNames: ["cast.example"])
    let from = { (origin: String) in
      status(router.evaluate(head("POST", "/whep", host: "cast.example", origin: origin, type: "application/sdp")))
    }
    #expect(from("https://cast.example") == nil)
    #expect(from("https://cast.example:8443") == 403)
    #expect(from("https://other.example") == 403)
  }

  @Test(arguments: [
    (nil, false), ("", false), ("gzip", true), ("deflate, GZIP;q=0.5, br", true), ("gzip;q=0", false),
    ("br;q=1.0, *", true),
    ("*;q=0", false), ("*, gzip; q=0.000", false), ("gzipped", false),
    (String(repeating: "br,", count: 40) + "gzip", false),
  ])
  func `a page is compressed for those who say that they take it`(accepted: String?, isCompressed: Bool) {
    var head = head("GET", "/")
    head.acceptEncoding = accepted
    #expect(open.evaluate(head) == .page(PageRequest(hosts: ["127.0.0.1:8080"], acceptsGzip: isCompressed)))
  }

  @Test func `what a browser has of a page is told by its tags`() {
    var head = head("GET", "/")
    head.ifNoneMatch = "W/\"abc-gzip\", \"def\""
    #expect(open.evaluate(head) == .page(PageRequest(hosts: ["127.0.0.1:8080"], knownTags: ["abc-gzip", "def"])))
  }

  @Test func `each resource has its action`() {
    #expect(open.evaluate(head("GET", "/")) == .page(PageRequest(hosts: ["127.0.0.1:8080"])))
    #expect(open.evaluate(head("HEAD", "/?token=x#y")) == .page(PageRequest(hosts: ["127.0.0.1:8080"])))
    #expect(open.evaluate(head("GET", "/health")) == .health(detail: true))
    #expect(open.evaluate(head("GET", "/snapshot.webp")) == .snapshot(by: .everybody))
    #expect(open.evaluate(head("POST", "/whep", type: "application/sdp")) == .open(.whep, stream: nil, by: .everybody))
    #expect(
      open.evaluate(head("POST", "/whep/a%20b?x", type: "Application/SDP ; x=1"))
        == .open(.whep, stream: "a b", by: .everybody))
    #expect(open.evaluate(head("DELETE", "/whep/session/a-b_9")) == .close(.whep, id: "a-b_9"))
  }

  @Test(arguments: [("\"7\"", "7"), ("W/\"7\"", "7"), ("*", "*"), ("\"7\", \"8\"", "7"), ("7", "7"), ("\"", "\"")])
  func `the entity tag loses its quotes`(header: String, expected: String) {
    let request = head("PATCH", "/whep/session/x", type: "application/trickle-ice-sdpfrag", ifMatch: header)
    #expect(open.evaluate(request) == .patch(.whep, id: "x", etag: expected))
  }

  @Test(arguments: [
    "/nothing", "/whepx", "/whep/a/b", "/whep/%2f", "/whep/%zz", "/whep/%", "/whep/%ff", "/whep/session/",
    "/whep/session/a/b",
    "/whep/session/..", "/../etc/passwd", "", "*", "http://x/", "/whep/" + String(repeating: "a", count: 129),
    "/whep/%00",
  ]) func `paths that name nothing are not found`(path: String) {
    #expect(status(open.evaluate(head("GET", path))) == 404)
  }

  @Test(arguments: [
    ("POST", "/", "GET, HEAD, OPTIONS"), ("DELETE", "/whep", "POST, GET, HEAD, OPTIONS"),
    ("PUT", "/whep/x", "POST, GET, HEAD, OPTIONS"), ("POST", "/whep/session/x", "PATCH, DELETE, GET, HEAD, OPTIONS"),
    ("BREW", "/health", "GET, HEAD, OPTIONS"),
  ]) func `a method that a path does not take is told which it takes`(method: String, path: String, allowed: String) {
    guard case .reply(let reply) = open.evaluate(head(method, path)) else { Issue.record("another outcome"); return }
    #expect(reply.status == 405)
    #expect(reply.first("allow") == allowed)
  }

  @Test func `a body of another type is refused`() {
    #expect(status(open.evaluate(head("POST", "/whep"))) == 415)
    #expect(status(open.evaluate(head("POST", "/whep", type: "text/plain"))) == 415)
    #expect(
      status(open.evaluate(head("PATCH", "/whip/session/x", type: "application/sdp"))) == 404,
      "nothing is published here")
    #expect(status(open.evaluate(head("PATCH", "/whep/session/x", type: "text/plain"))) == 415)
    #expect(open.evaluate(head("PATCH", "/whep/session/x", type: "application/sdp")) == .accept(.whep, id: "x"))
  }

  @Test func `a token guards the cast but not the page`() {
    #expect(locked.evaluate(head("GET", "/")) == .page(PageRequest(hosts: ["127.0.0.1:8080"])))
    #expect(locked.evaluate(head("GET", "/health")) == .health(detail: false))
    #expect(locked.evaluate(head("GET", "/health", authorization: "Bearer sesame")) == .health(detail: true))
    for request in [
      head("POST", "/whep", type: "application/sdp"), head("DELETE", "/whep/session/x"),
      head("POST", "/whep", authorization: "Bearer wrong", type: "application/sdp"),
    ] {
      guard case .reply(let reply) = locked.evaluate(request) else { Issue.record("another outcome"); return }
      #expect(reply.status == 401)
      #expect(reply.first("www-authenticate")?.hasPrefix("Bearer") == true)
    }
    let right = head("POST", "/whep", authorization: "Bearer sesame", type: "application/sdp")
    #expect(locked.evaluate(right) == .open(.whep, stream: nil, by: .owner))
  }

  @Test func `apreflight needs no token`() {
    guard case .reply(let reply) = locked.evaluate(head("OPTIONS", "/whep", origin: "https://other.example")) else {
      Issue.record("another outcome"); return
    }
    #expect(reply.status == 204)
    #expect(reply.first("access-control-allow-methods") == "POST, GET, HEAD, OPTIONS")
    #expect(
      reply.first("access-control-allow-headers")
        == "Authorization, Content-Type, If-Match, RTCast-Client, RTCast-Checks")
    #expect(reply.first("accept-post") == "application/sdp")
  }

  @Test(arguments: [
    "127.0.0.1", "127.0.0.1:80", "localhost:80", "LocalHost", "[::1]:80", "192.168.0.1:80", "cast.example:443",
  ]) func `a loopback server knows itself by address and as localhost`(host: String) {
    let desk = RequestRouter(listen: .loopback, gate: .open(), hostNames: ["cast.example"])
    #expect(desk.evaluate(head("GET", "/", host: host)) == .page(PageRequest(hosts: [host])))
  }

  @Test(arguments: [
    "evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "0x7f000001", "127.1", "localhost.",
  ]) func `and refuses names that others can point at it`(host: String) {
    #expect(status(open.evaluate(head("GET", "/", host: host))) == 403)
    #expect(status(locked.evaluate(head("GET", "/", host: host))) == 403)
  }

  @Test(arguments: [nil, "", "[::1", "a b", "a@b", ":80", "a:b:c"]) func `a request without a usable host is malformed`(
    host: String?
  ) {
    #expect(status(open.evaluate(head("GET", "/", host: host))) == 400)
  }

  @Test func `a server for the network takes any name where a secret is asked for, else those that are its own`() throws
  {
    let listen = try ListenAddress(parsing: ":80")
    let request = head("GET", "/", host: "my.machine.example")
    let locked = RequestRouter(listen: listen, gate: .fresh())
    #expect(locked.evaluate(request) == .page(PageRequest(hosts: ["my.machine.example"])))
    let open = RequestRouter(listen: listen, gate: .open())
    #expect(status(open.evaluate(request)) == 403, "whoever owns the name could point it here")
    let named = RequestRouter(listen: listen, gate: .open(), hostNames: ["my.machine.example"])
    #expect(named.evaluate(request) == .page(PageRequest(hosts: ["my.machine.example"])))
  }

  @Test func `without a token other sites cannot watch through a visitor's browser`() {
    let post = { (origin: String) in
      status(open.evaluate(head("POST", "/whep", origin: origin, type: "application/sdp")))
    }
    #expect(post("https://evil.example") == 403)
    #expect(post("null") == 403)
    #expect(post("https://127.0.0.1.evil.example:80") == 403)
    #expect(post("http://127.0.0.1:8080") == nil)
    // Scheme, host and port are one.
    #expect(post("http://127.0.0.1:9999") == 403)
    #expect(post("http://localhost:8080") == 403)
    #expect(post("https://127.0.0.1:8080") == 403)
    #expect(post("http://127.0.0.1") == 403)
    #expect(status(open.evaluate(head("OPTIONS", "/whep", origin: "https://evil.example"))) == 403)
  }

  @Test func `each path wants its right`() throws {
    let secret = try #require(AccessToken("sesame"))
    let router = RequestRouter(
      listen: .loopback, gate: AccessGate(secret: secret), hasHub: true, takesPublications: true)
    let paths = ["/whep", "/whip/talk", "/metrics"]
    let rights: [AccessRight: String] = [.watch: "/whep", .publish: "/whip/talk", .metrics: "/metrics", .call: ""]
    for (right, own) in rights {
      let token = SignedLink(right, issued: 1_700_000_000).signed(with: secret)
      for path in paths {
        let method = path == "/metrics" ? "GET" : "POST"
        let request = head(method, path, authorization: "Bearer " + token, type: "application/sdp")
        #expect(status(router.evaluate(request)) == (path == own ? nil : 403), "\(right) \(path)")
        #expect(status(router.evaluate(head(method, path, type: "application/sdp"))) == 401)
      }
    }
  }

  @Test func `the picture is for those who may watch, while their link has uses left`() throws {
    let secret = try #require(AccessToken("sesame"))
    let gate = AccessGate(secret: secret)
    let router = RequestRouter(listen: .loopback, gate: gate)
    let ask = { (token: String?) in
      router.evaluate(head("GET", "/snapshot.webp", authorization: token.map { "Bearer " + $0 }))
    }
    #expect(status(ask(nil)) == 401 && status(ask("wrong")) == 401)
    #expect(ask("sesame") == .snapshot(by: .owner))
    #expect(status(ask(SignedLink(.publish, issued: 1_700_000_000).signed(with: secret))) == 403)
    let once = SignedLink(.watch, issued: 1_700_000_000, uses: 1).signed(with: secret)
    let now = AccessTime(unix: 1_700_000_000, monotonic: .zero)
    let grant = try gate.evaluate(once, for: .watch, isNew: true, from: "192.0.2.1", now: now)
    #expect(ask(once) == .snapshot(by: grant), "the server counts the use when it gives the picture")
    try gate.use(grant, client: "somebody", now: now)
    #expect(status(ask(once)) == 401)
    let hub = RequestRouter(listen: .loopback, gate: gate, hasHub: true, takesPublications: true)
    #expect(status(hub.evaluate(head("GET", "/snapshot.webp", authorization: "Bearer sesame"))) == 404)
  }

  @Test(arguments: [
    ("/topsecrettopsecret/peers", "/…/peers"), ("/topsecrettopsecret/id", "/…/id"), ("/?token=topsecret", "/"),
    ("/topsecret", "/…"), ("/watch/topsecret", "/…"), ("/whep/session/topsecret", "/whep/session/…"),
    ("/whip/talk?topsecret", "/whip/talk"), ("/hub#topsecret", "/hub"), ("topsecret", "/…"),
    ("/snapshot.webp", "/snapshot.webp"), ("/snapshot/talk?width=topsecret", "/snapshot/talk"),
    ("/pick/picture/topsecret", "/pick/picture/…"), ("/pick/topsecret", "/…"),
  ]) func `B7: a log names known paths only`(target: String, told: String) {
    #expect(head("GET", target).publicPath == told)
  }

  @Test func `a link for one stream is for no other`() throws {
    let secret = try #require(AccessToken("sesame"))
    let router = RequestRouter(
      listen: .loopback, gate: AccessGate(secret: secret), hasHub: true, takesPublications: true)
    let token = SignedLink(.watch, issued: 1_700_000_000, stream: "talk").signed(with: secret)
    let ask = { (path: String) in
      status(router.evaluate(head("POST", path, authorization: "Bearer " + token, type: "application/sdp")))
    }
    #expect(ask("/whep/talk") == nil && ask("/whep/other") == 403 && ask("/whep") == 403)
  }

  @Test func `still pictures of streams need the right to watch, and a link for one stream gives no other`() throws {
    let secret = try #require(AccessToken("sesame"))
    let hub = RequestRouter(
      listen: .loopback, gate: AccessGate(secret: secret), hasHub: true, takesPublications: true)
    let token = SignedLink(.watch, issued: 1_700_000_000, stream: "talk").signed(with: secret)
    let ask = { (path: String, token: String?) in
      status(hub.evaluate(head("GET", path, authorization: token.map { "Bearer " + $0 })))
    }
    #expect(ask("/wall", nil) == nil)
    #expect(ask("/streams", nil) == 401 && ask("/streams", token) == nil)
    #expect(ask("/snapshot/talk", nil) == 401 && ask("/snapshot/talk", token) == nil)
    #expect(ask("/snapshot/other", token) == 403 && ask("/snapshot/other", "sesame") == nil)
    #expect(ask("/streams", SignedLink(.publish, issued: 1_700_000_000).signed(with: secret)) == 403)
    for path in ["/wall", "/streams", "/snapshot/talk"] {
      #expect(
        status(locked.evaluate(head("GET", path, authorization: "Bearer sesame"))) == 404, "a cast has no \(path)")
    }
  }

  @Test func `only the caster's own secret picks a source`() throws {
    let secret = try #require(AccessToken("sesame"))
    let desk = RequestRouter(listen: .loopback, gate: AccessGate(secret: secret), hasPicker: true)
    let ask = { (method: String, path: String, token: String?) in
      desk.evaluate(head(method, path, authorization: token.map { "Bearer " + $0 }))
    }
    let ways = [("GET", "/pick/state"), ("GET", "/pick/picture/window-a1"), ("POST", "/pick/choice")]
    for (method, path) in ways {
      #expect(status(ask(method, path, nil)) == 401 && status(ask(method, path, "wrong")) == 401)
      #expect(status(ask(method, path, "sesame")) == nil)
      for right in AccessRight.allCases {
        let link = SignedLink(right, issued: 1_700_000_000).signed(with: secret)
        #expect(status(ask(method, path, link)) == 403, "a link for \(right.rawValue)")
      }
      #expect(status(locked.evaluate(head(method, path, authorization: "Bearer sesame"))) == 404)
    }
    #expect(ask("GET", "/pick/picture/window-a1", "sesame") == .pick(.picture(id: "window-a1"), known: []))
    for path in [
      "/pick/picture/", "/pick/picture/a%2Fb", "/pick/picture/" + String(repeating: "a", count: 65), "/pick/x",
    ] {
      #expect(status(ask("GET", path, "sesame")) == 404)
    }
  }

  @Test(arguments: ["/whep/%C2%85", "/whep/%E2%80%AE", "/whep/%E2%80%8B", "/whep/%EE%80%80", "/whep/%1B"])
  func `stream names have nothing that cannot be seen`(path: String) {
    #expect(status(open.evaluate(head("POST", path, type: "application/sdp"))) == 404)
  }

  @Test func `with a token they may as they must know it`() {
    let request = head(
      "POST", "/whep", origin: "https://other.example", authorization: "Bearer sesame", type: "application/sdp")
    #expect(locked.evaluate(request) == .open(.whep, stream: nil, by: .owner))
  }
}

extension RequestRouter {
  /// By a client at an address for documentation, at an hour that does not matter.
  func evaluate(_ head: RequestHead) -> Action {
    evaluate(head, from: "192.0.2.1", now: AccessTime(unix: 1_700_000_000, monotonic: .zero))
  }
}
