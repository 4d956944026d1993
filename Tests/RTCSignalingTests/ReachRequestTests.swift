import RTCPrimitives
import RTCSignaling
import Testing

/// A client's question whether its ports are reached from outside.
@Suite struct ReachRequestTests {
  private func action(_ target: String, hasHub: Bool = true, authorization: String? = nil, gate: AccessGate = .open())
    -> RequestRouter.Action
  {
    let router = RequestRouter(listen: .loopback, gate: gate, hasHub: hasHub)
    return router.evaluate(
      RequestHead(method: "POST", target: target, host: "127.0.0.1:8080", authorization: authorization))
  }

  private func status(_ action: RequestRouter.Action) -> Int? {
    if case .reply(let reply) = action { reply.status } else { nil }
  }

  @Test func `a hub reads ports and key from the query, as the client writes them`() throws {
    let request = try #require(ReachRequest(udp: 5_000, tcp: 443, key: "abcdef12"))
    #expect(action("/" + request.reference) == .reach(request))
    let datagrams = try #require(ReachRequest(udp: 5_000, tcp: nil, key: "abcdef12"))
    #expect(action("/" + datagrams.reference) == .reach(datagrams))
    #expect(request.datagram == Array("rtcast-reach abcdef12".utf8))
    // A cast has no hub.
    #expect(status(action("/" + request.reference, hasHub: false)) == 404)
  }

  @Test(arguments: [
    "", "?key=abcdef12", "?udp=0&key=abcdef12", "?udp=70000&key=abcdef12", "?udp=5000", "?udp=5000&key=short",
    "?udp=5000&tcp=x&key=abcdef12", "?udp=5000&key=abcdef%0a12", "?udp=-1&key=abcdef12",
  ])
  func `what is no such question is refused`(query: String) { #expect(status(action("/reach" + query)) == 400) }

  @Test func `it takes the right to call`() {
    let gate = AccessGate(secret: AccessToken("sesame"))
    #expect(status(action("/reach?udp=5000&key=abcdef12", gate: gate)) == 401)
    #expect(status(action("/reach?udp=5000&key=abcdef12", authorization: "Bearer sesame", gate: gate)) == nil)
  }

  @Test func `a network asks ten times at once, then once in ten seconds`() {
    var limiter = ReachLimiter()
    let (one, other) = (ClientNetwork("192.0.2.1"), ClientNetwork("192.0.2.2"))
    var now = Timestamp.zero + .seconds(1)
    func tries(_ network: ClientNetwork, _ count: Int) -> Int {
      (0..<count).count { _ in
        let isAdmitted = limiter.begin(network, now: now)
        if isAdmitted { limiter.end() }
        return isAdmitted
      }
    }
    #expect(tries(one, 12) == 10)
    #expect(tries(other, 12) == 10)
    now = now + .seconds(10)
    #expect(tries(one, 2) == 1)
  }

  @Test func `no more than 32 are carried out at once`() {
    var limiter = ReachLimiter()
    let admitted = (0..<40).count { limiter.begin(ClientNetwork("192.0.2.\($0)"), now: .zero) }
    #expect(admitted == 32)
    limiter.end()
    let isAdmitted = limiter.begin(ClientNetwork("198.51.100.1"), now: .zero)
    #expect(isAdmitted)
  }

  @Test func `the answer says where, and whether the connection came about`() {
    for reply in [
      ReachReply(address: "192.0.2.1", isTCPOpen: true), ReachReply(address: "2001:db8::1", isTCPOpen: nil),
    ] {
      #expect(ReachReply(parsing: reply.json) == reply)
    }
    for text in ["", "[]", "{}", #"{"address": "here"}"#, #"{"tcp": true}"#] {
      #expect(ReachReply(parsing: text) == nil)
    }
  }
}
