import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct RegistrationTests {
  @Test func `a client gets its name, a secret and the ICE servers`() throws {
    var bench = HubBench(iceServers: [try ICEServer(parsing: ["turn:t.example"], username: "u", credential: "c")])
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"alice"}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"registered","id":"alice","secret":"01010101010101010101010101010101","resumed":false,"rooms":[],"#
          + #""iceServers":[{"urls":"turn:t.example","username":"u","credential":"c"}]}"#
      ])
    #expect(bench.hub.counters.peers == 1)
  }

  @Test func `without a requested name the hub chooses a name`() {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, #"{"type":"register"}"#)
    #expect(
      bench.take(1).first?.hasPrefix(#"{"type":"registered","id":"01010101-0101-4101-8101-010101010101""#) == true)
  }

  @Test func `a taken name stays with its owner, and the other may choose again`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"alice"}"#)
    #expect(errorCode(bench.take(2).first) == "taken-name")
    bench.say(2, #"{"type":"register","id":"alice","secret":"0123456789abcdef"}"#)
    #expect(errorCode(bench.take(2).first) == "taken-name")
    bench.say(2, #"{"type":"register","id":"bob"}"#)
    #expect(bench.take(2).first?.contains("registered") == true)
    #expect(bench.take(1).isEmpty)
  }

  @Test func `a connection registers once, and before anything else`() {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, #"{"type":"join","room":"r"}"#)
    bench.say(1, #"{"type":"signal","to":"x","data":1}"#)
    #expect(bench.take(1).map(errorCode) == ["not-registered", "not-registered"])
    bench.say(1, #"{"type":"register","id":"alice"}"#)
    bench.say(1, #"{"type":"register","id":"alicia"}"#)
    #expect(errorCode(bench.take(1).last) == "already-registered")
  }

  @Test(arguments: ["", " a", "a ", "a/b", "a\\u0000", "a\\u202E", String(repeating: "x", count: 65)])
  func `names that confuse are refused`(name: String) {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"\#(name)"}"#)
    #expect(errorCode(bench.take(1).first) == "bad-name")
  }

  @Test func `the shared token is asked for, and a name's own goes before it`() throws {
    let gate = AccessGate(
      secret: AccessToken("sesame"), perPeer: ["alice": try #require(AccessToken("hers"))])
    var bench = HubBench(gate: gate)
    bench.open(1)
    for line in [#"{"type":"register","id":"bob"}"#, #"{"type":"register","id":"bob","token":"sesamy"}"#] {
      bench.say(1, line)
      #expect(errorCode(bench.take(1).first) == "bad-token")
    }
    bench.say(1, #"{"type":"register","id":"alice","token":"sesame"}"#)
    #expect(errorCode(bench.take(1).first) == "bad-token")
    bench.say(1, #"{"type":"register","id":"alice","token":"hers"}"#)
    #expect(bench.take(1).first?.contains("registered") == true)
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"bob","token":"sesame"}"#)
    #expect(bench.take(2).first?.contains("registered") == true)
  }

  @Test func `where only names have tokens, nobody takes another name`() throws {
    var bench = HubBench(gate: AccessGate(secret: nil, perPeer: ["alice": try #require(AccessToken("hers"))]))
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"bob","token":"hers"}"#)
    #expect(errorCode(bench.take(1).first) == "bad-token")
  }

  @Test func `guessing tokens ends the connection with a word`() {
    var bench = HubBench(gate: AccessGate(secret: AccessToken("sesame")))
    bench.open(1)
    for _ in 0..<6 { bench.say(1, #"{"type":"register","token":"x"}"#) }
    #expect(errorCode(bench.take(1).last) == "too-many-faults")
    #expect(bench.closings[1] == 1008)
  }

  @Test func `tries go on counting on another connection from the same address`() {
    var bench = HubBench(gate: AccessGate(secret: AccessToken("sesame")))
    for client in 1...5 {
      bench.open(client)
      for _ in 0..<2 { bench.say(client, #"{"type":"register","token":"x"}"#) }
    }
    bench.open(6)
    bench.say(6, #"{"type":"register","token":"x"}"#)
    #expect(errorCode(bench.take(6).last) == "too-many-tries")
    bench.open(8)
    bench.say(8, #"{"type":"register","token":"sesame"}"#)
    #expect(bench.take(8).last?.contains("registered") == true, "what is right is not slowed")
    bench.open(7, from: "192.0.2.7")
    bench.say(7, #"{"type":"register","token":"sesame"}"#)
    #expect(bench.take(7).last?.contains("registered") == true)
  }

  @Test func `a link for calls gives its name, and ends with a word`() throws {
    let secret = try #require(AccessToken("sesame"))
    var bench = HubBench(gate: AccessGate(secret: secret))
    let bob = SignedLink(.call, issued: HubBench.start, expires: HubBench.start + 100, name: "bob")
    let anybody = SignedLink(.call, issued: HubBench.start)
    let watching = SignedLink(.watch, issued: HubBench.start)
    bench.open(1)
    bench.say(1, #"{"type":"register","token":"\#(watching.signed(with: secret))"}"#)
    bench.say(1, #"{"type":"register","id":"eve","token":"\#(bob.signed(with: secret))"}"#)
    #expect(bench.take(1).map(errorCode) == ["link-for-other", "link-for-other"])
    bench.say(1, #"{"type":"register","token":"\#(bob.signed(with: secret))"}"#)
    #expect(bench.take(1).first?.contains(#""id":"bob""#) == true)
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"carol","token":"\#(anybody.signed(with: secret))"}"#)
    _ = bench.take(2)
    bench.pass(.seconds(20))
    for client in 1...2 { bench.handle(.heard(bench.id(client))) }
    #expect(bench.closings.isEmpty)
    for _ in 0..<5 {
      bench.pass(.seconds(20))
      for client in 1...2 { bench.handle(.heard(bench.id(client))) }
    }
    #expect(errorCode(bench.take(1).last) == "link-expired" && bench.closings == [1: 1008])
    #expect(bench.events.contains(.left("bob")))
    bench.handle(.revoked(anybody.id))
    #expect(errorCode(bench.take(2).last) == "link-revoked" && bench.events.contains(.left("carol")))
  }

  @Test func `no more names than the limit`() {
    var bench = HubBench { $0.peers = 1 }
    bench.enter(1, as: "alice")
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"bob"}"#)
    #expect(errorCode(bench.take(2).first) == "too-many-peers")
  }
}
