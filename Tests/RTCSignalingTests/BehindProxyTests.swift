import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct BehindProxyTests {
  private let proxies = [AddressPrefix("127.0.0.1")!, AddressPrefix("10.0.0.0/8")!]

  private func place(
    _ connection: String = "127.0.0.1", forwarded: [String] = [], for hops: [String] = [], hosts: [String] = [],
    schemes: [String] = []
  ) -> ForwardedPlace {
    ForwardedAddress.place(
      of: connection, forwarded: forwarded, forwardedFor: hops, hosts: hosts, schemes: schemes, trusting: proxies)
  }

  @Test func `host and scheme are those that the client's own proxy states`() {
    #expect(place("192.0.2.9", hosts: ["lab.example"]) == ForwardedPlace())
    #expect(
      place(for: ["203.0.113.5"], hosts: ["lab.example:8443"], schemes: ["HTTPS"])
        == ForwardedPlace(host: "lab.example:8443", scheme: .https))
    #expect(
      place(forwarded: ["for=203.0.113.5;host=\"lab.example\";proto=https"])
        == ForwardedPlace(host: "lab.example", scheme: .https))
    // Two proxies: the outer one, 10.1.1.1, has the client's connection.
    #expect(
      place(forwarded: ["for=6.6.6.6;host=evil.example", "for=203.0.113.5;host=lab.example, for=10.1.1.1;host=inner"])
        == ForwardedPlace(host: "lab.example"))
    #expect(place(for: ["203.0.113.5, 10.1.1.1"], hosts: ["evil.example, lab.example, inner"]).host == "lab.example")
    #expect(place(for: ["203.0.113.5, 10.1.1.1"], hosts: ["lab.example"]).host == "lab.example")
  }

  @Test(arguments: ["a b", "a/b", "me@lab.example", "[::1", ""])
  func `a host that is none is not stated`(host: String) {
    #expect(place(for: ["203.0.113.5"], hosts: [host], schemes: ["gopher"]) == ForwardedPlace())
  }

  @Test(arguments: [
    ("/cast", "/cast"), ("/cast/", "/cast"), ("cast", "/cast"), ("/a/b/", "/a/b"), ("/~me/x.y", "/~me/x.y"),
  ]) func `a base path has no slash at its end`(text: String, path: String) {
    #expect(BasePath(text)?.text == path)
  }

  @Test(arguments: [
    "", "/", "//", "/a//b", "/../x", "/a/./b", "/a b", "/a?b", "/a#b", "/ä", String(repeating: "a", count: 300),
  ])
  func `other texts are no base path`(text: String) { #expect(BasePath(text) == nil) }

  @Test func `requests with the path and without it are the same`() throws {
    let gate = AccessGate(secret: AccessToken("sesame"))
    let router = RequestRouter(
      listen: .loopback, gate: gate, basePath: BasePath("/lab/cast"))
    let request = { (target: String) in
      router.evaluate(
        router.localized(RequestHead(method: "GET", target: target, host: "localhost"), at: ForwardedPlace()))
    }
    let page = RequestRouter.Action.page(PageRequest(hosts: ["localhost"]))
    #expect(request("/") == page && request("/lab/cast/") == page)
    #expect(request("/lab/cast/health?x") == .health(detail: false))
    for target in ["/lab/cast?a=b", "/lab/cast"] {
      guard case .reply(let reply) = request(target) else { Issue.record("\(target) has no redirect"); continue }
      #expect(reply.status == 308)
      let location = try #require(reply.first("location"))
      let resolved = try #require(WebAddress("https://h\(target)")?.resolving(location))
      #expect(resolved.target == (target.contains("?") ? "/lab/cast/?a=b" : "/lab/cast/"))
    }
    guard case .reply(let other) = request("/lab/castle/") else { Issue.record("a longer name is no prefix"); return }
    #expect(other.status == 404)
  }

  @Test func `a path with the name of a resource is not confused with it`() throws {
    let router = RequestRouter(listen: .loopback, gate: .open(), hasHub: true, basePath: BasePath("/hub"))
    let request = { (target: String, upgrade: String?) -> RequestRouter.Action in
      let head = RequestHead(method: "GET", target: target, host: "localhost", upgrade: upgrade)
      return router.evaluate(router.localized(head, at: ForwardedPlace()))
    }
    let page = RequestRouter.Action.page(PageRequest(hosts: ["localhost"]))
    #expect(request("/hub/", nil) == page && request("/", nil) == page)
    #expect(request("/hub", "websocket") == .hub(.native, query: [:]), "the proxy has removed the path")
    #expect(request("/hub/hub", "websocket") == .hub(.native, query: [:]), "the proxy has left it")
    #expect(try PublicAddress(parsing: "https://lab.example/watch/").basePath == nil)
    #expect(try PublicAddress(parsing: "https://lab.example/hub/").basePath?.text == "/hub")
    #expect(BasePath("/whep/x")?.isAmbiguous == true && BasePath("/watcher")?.isAmbiguous == false)
  }

  @Test func `the viewer page has one address`() throws {
    let router = RequestRouter(listen: .loopback, gate: .open())
    let action = router.evaluate(RequestHead(method: "GET", target: "/watch/?stream=a", host: "localhost"))
    guard case .reply(let reply) = action else { Issue.record("no redirect"); return }
    let location = try #require(reply.first("location"))
    for prefix in ["", "/cast"] {
      #expect(
        WebAddress("https://h\(prefix)/watch/?stream=a")?.resolving(location)?.target == "\(prefix)/watch?stream=a")
    }
  }

  @Test(arguments: [
    ("https://lab.example", "https://lab.example/", nil),
    ("https://lab.example/cast", "https://lab.example/cast/", "/cast"),
    ("https://lab.example:443/", "https://lab.example/", nil),
    ("http://[2001:db8::1]:8080/a/b/", "http://[2001:db8::1]:8080/a/b/", "/a/b"),
  ]) func `a public address is that of the front page`(text: String, url: String, path: String?) throws {
    let address = try PublicAddress(parsing: text)
    #expect(address.description == url && address.basePath?.text == path)
    #expect(address.link(token: AccessToken("a&b")) == url + "#token=a%26b")
  }

  @Test(arguments: [
    ("https://me:secret@lab.example/", PublicAddressError.hasCredentials), ("https://lab.example/?a", .hasParameters),
    ("https://lab.example/#token=x", .hasParameters), ("lab.example", .malformed("lab.example")),
    ("ftp://lab.example/", .malformed("ftp://lab.example/")),
    ("https://[%306:db8::1]:84", .malformed("https://[%306:db8::1]:84")),
    ("https://[lab]/", .malformed("https://[lab]/")),
  ]) func `others are refused with a reason`(text: String, error: PublicAddressError) {
    #expect(throws: error) { try PublicAddress(parsing: text) }
  }

  @Test func `an open server behind a proxy is used from its public pages only`() throws {
    let router = RequestRouter(
      listen: .loopback, gate: .open(), publicAddress: try PublicAddress(parsing: "https://lab.example/cast/"))
    let status = { (host: String, origin: String, place: ForwardedPlace) -> Int? in
      let head = RequestHead(
        method: "POST", target: "/whep", host: host, origin: origin, contentType: "application/sdp")
      guard case .reply(let reply) = router.evaluate(router.localized(head, at: place)) else { return nil }
      return reply.status
    }
    #expect(status("lab.example", "https://lab.example", ForwardedPlace()) == nil)
    #expect(status("127.0.0.1:8080", "https://lab.example", ForwardedPlace()) == nil, "the proxy changed Host")
    #expect(status("127.0.0.1:8080", "https://evil.example", ForwardedPlace()) == 403)
    let rebound = ForwardedPlace(host: "evil.example", scheme: .https)
    #expect(status("127.0.0.1:8080", "https://evil.example", rebound) == 403, "a name that points at the proxy")
    #expect(status("evil.example", "https://evil.example", ForwardedPlace(host: "lab.example")) == 403)
  }

  @Test func `checks of a viewer are read, and other texts are zeros`() {
    #expect(
      ViewerChecks(parsing: "sent=12, answered=0, received=3") == ViewerChecks(sent: 12, answered: 0, received: 3))
    for text in ["", "sent", "sent=-1", "sent=99999999999999999999", "sent=1e3", "=,=,=", "received=x"] {
      #expect(ViewerChecks(parsing: text) == ViewerChecks(), "\(text)")
    }
  }

  @Test func `a diagnosis is one line of a header`() {
    let reply = HTTPReply.found(etag: "1", diagnosis: "Line\r\nX: y ä")
    #expect(reply.first("rtcast-diagnosis") == "Line??X: y ??")
    #expect(HTTPReply.found(etag: nil, diagnosis: "x").status == 404)
  }
}
