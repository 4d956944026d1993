import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct HubLimitTests {
  @Test(arguments: ["", "[]", "{", #"{"type":1}"#, #"{"type":"dance"}"#, #"{"type":"join"}"#, #"{"type":"ping",}"#])
  func `what cannot be read is answered and changes nothing`(text: String) {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.say(1, text)
    #expect(bench.take(1).map(errorCode) == ["malformed"])
    bench.say(1, #"{"type":"ping"}"#)
    #expect(bench.take(1) == [#"{"type":"pong"}"#])
  }

  @Test func `bytes that are no text are malformed`() {
    var bench = HubBench()
    bench.open(1)
    bench.handle(.received(bench.id(1), Array(#"{"type":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)))
    #expect(bench.take(1).map(errorCode) == ["malformed"])
  }

  @Test func `a message beyond the limit is refused`() {
    var bench = HubBench { $0.messageBytes = 100 }
    bench.enter(1, as: "alice")
    bench.say(1, #"{"type":"ping","x":"\#(String(repeating: "x", count: 100))"}"#)
    #expect(bench.take(1).map(errorCode) == ["too-large"])
    bench.handle(.unreadable(bench.id(1), .tooLarge(limit: 100)))
    #expect(bench.take(1).map(errorCode) == ["too-large"])
    #expect(bench.closings[1] == 1009)
  }

  @Test func `who sends too fast is told, forgiven after a rest, and closed if it goes on`() {
    var bench = HubBench {
      $0.messageBurst = 3
      $0.messagesPerSecond = 1
      $0.faultBurst = 4
    }
    bench.enter(1, as: "alice")
    for _ in 0..<3 { bench.say(1, #"{"type":"ping"}"#) }
    #expect(bench.take(1).map(errorCode) == [nil, nil, "too-fast"])
    bench.pass(.seconds(2))
    for _ in 0..<2 { bench.say(1, #"{"type":"ping"}"#) }
    #expect(bench.take(1).map(errorCode) == [nil, nil])
    for _ in 0..<5 { bench.say(1, #"{"type":"ping"}"#) }
    #expect(bench.take(1).map(errorCode).last == "too-many-faults")
    #expect(bench.closings[1] == 1008)
    bench.say(1, #"{"type":"ping"}"#)
    #expect(bench.take(1).isEmpty)
  }

  @Test func `a slow reader is closed with a word, and the rest go on`() {
    var bench = HubBench { $0.outgoingBytes = 2000 }
    for (client, name) in [(1, "a"), (2, "b"), (3, "c")] {
      bench.enter(client, as: name)
      bench.say(client, #"{"type":"join","room":"den"}"#)
    }
    bench.stuck = [2]
    let data = String(repeating: "x", count: 500)
    for _ in 0..<5 { bench.say(1, #"{"type":"signal","to":"b","data":"\#(data)"}"#) }
    #expect(errorCode(bench.take(2).last) == "too-slow")
    #expect(bench.closings[2] == 1008)
    bench.pass(.seconds(31))
    #expect(bench.take(3).last == #"{"type":"peer-left","room":"den","peer":"b"}"#)
  }

  @Test func `a connection that says nothing is closed, and costs no name`() {
    var bench = HubBench()
    for client in 1...200 { bench.open(client, from: "192.0.2.\(client)") }
    #expect(bench.hub.counters.connections == 200)
    bench.pass(.seconds(11))
    #expect(bench.hub.counters.connections == 0)
    #expect(errorCode(bench.take(77).first) == "never-registered")
    #expect(bench.hub.deadline == nil)
  }

  @Test func `B3: a network has so many nameless connections`() {
    var bench = HubBench()
    for client in 1...16 { bench.open(client, from: "2001:db8::\(client)") }
    bench.open(17, from: "2001:db8::ffff:1")
    #expect(errorCode(bench.take(17).first) == "too-many-connections")
    for client in 20...40 { bench.open(client, from: "2001:db8:0:\(client)::1") }
    bench.open(50, from: "192.0.2.1")
    #expect(bench.closings == [17: 1013])
    // A name makes room for the next.
    bench.say(1, #"{"type":"register","id":"alice"}"#)
    bench.open(18, from: "2001:db8::2:2")
    #expect(bench.closings == [17: 1013])
    for client in 100...140 { bench.open(client, from: "127.0.0.1") }
    #expect(bench.closings == [17: 1013], "this machine is a proxy's too")
  }

  @Test func `B3: in a full hub the oldest nameless connection of the busiest network gives way`() {
    var bench = HubBench { $0.connections = 6 }
    for client in 1...4 { bench.open(client, from: "192.0.2.1") }
    bench.open(5, from: "198.51.100.1")
    bench.open(6, from: "198.51.100.2")
    bench.open(7, from: "203.0.113.1")
    #expect(bench.closings == [1: 1013])
    bench.open(8, from: "203.0.113.2")
    bench.open(9, from: "203.0.113.3")
    #expect(bench.closings == [1: 1013, 2: 1013, 3: 1013])
  }

  @Test func `B8: a network takes half of the names`() {
    var bench = HubBench { $0.peers = 6 }
    for client in 1...4 {
      bench.open(client, from: "192.0.2.1")
      bench.say(client, #"{"type":"register","id":"n\#(client)"}"#)
    }
    #expect(errorCode(bench.take(4).last) == "too-many-peers")
    bench.open(5, from: "192.0.2.2")
    bench.say(5, #"{"type":"register","id":"n5"}"#)
    #expect(errorCode(bench.take(5).last) == nil)
  }

  @Test func `connections beyond the limit are sent away`() {
    var bench = HubBench { $0.connections = 1 }
    bench.enter(1, as: "alice")
    bench.open(2)
    #expect(errorCode(bench.take(2).first) == "too-many-connections")
    #expect(bench.closings == [2: 1013])
  }

  @Test func `a quiet client is pinged, and taken for gone when it stays quiet`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.pass(.seconds(24))
    #expect(bench.pings.isEmpty)
    bench.pass(.seconds(2))
    #expect(bench.pings == [1])
    bench.handle(.heard(bench.id(1)))
    bench.pass(.seconds(60))
    #expect(bench.closings.isEmpty)
    bench.pass(.seconds(20))
    #expect(errorCode(bench.take(1).last) == "silent")
    #expect(bench.hub.counters.connections == 0)
    bench.pass(.seconds(31))
    #expect(bench.hub.counters.peers == 0)
  }

  @Test func `at the end everybody is told`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.open(2)
    bench.handle(.shutdown)
    #expect(errorCode(bench.take(1).last) == "shutting-down")
    #expect(bench.closings == [1: 1001, 2: 1001])
    #expect(bench.hub.counters.peers == 0 && bench.hub.deadline == nil)
  }

  @Test func `the figures are in Prometheus' format`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.say(1, #"{"type":"dance"}"#)
    let text = bench.hub.counters.prometheus
    #expect(text.contains("# TYPE rtcast_hub_peers gauge\nrtcast_hub_peers 1\n"))
    #expect(text.contains("rtcast_hub_messages_received_total 2\n"))
    #expect(text.hasSuffix("rtcast_hub_faults_total{code=\"malformed\"} 1\n"))
  }

  // MARK: - Without a name

  @Test func `a client without a name is read little and seldom`() {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"\#(String(repeating: "x", count: 5_000))"}"#)
    #expect(bench.take(1).map(errorCode) == ["too-large"])
    for _ in 0..<4 { bench.say(1, #"{"type":"ping"}"#) }
    #expect(bench.take(1).map(errorCode) == [nil, nil, nil, nil])
    for _ in 0..<3 { bench.say(1, #"{"type":"ping"}"#) }
    #expect(bench.take(1).map(errorCode) == ["too-fast", "too-fast", "too-fast"])
    // Nor can it register any more.
    bench.say(1, #"{"type":"register","id":"late"}"#)
    #expect(bench.take(1).map(errorCode) == ["too-fast"])
    bench.enter(2, as: "b")
    bench.say(2, #"{"type":"ping","x":"\#(String(repeating: "x", count: 5_000))"}"#)
    #expect(bench.take(2).map(errorCode) == [nil], "with a name it may be longer")
  }

  @Test func `messages cost by their length`() {
    var bench = HubBench {
      $0.byteBurst = 10_000
      $0.bytesPerSecond = 1_000
    }
    bench.enter(1, as: "a")
    let long = #"{"type":"ping","x":"\#(String(repeating: "x", count: 4_000))"}"#
    for _ in 0..<3 { bench.say(1, long) }
    #expect(bench.take(1).map(errorCode) == [nil, nil, "too-fast"])
    bench.pass(.seconds(5))
    bench.say(1, long)
    #expect(bench.take(1).map(errorCode) == [nil])
  }

  // MARK: - All together

  @Test func `slow readers together are held no more for than the hub may, and the slowest goes first`() {
    var bench = HubBench { $0.outgoingBytesInAll = 10_000 }
    for (client, name) in [(1, "a"), (2, "b"), (3, "c")] { bench.enter(client, as: name) }
    bench.stuck = [2, 3]
    let data = String(repeating: "x", count: 1_000)
    bench.say(1, #"{"type":"signal","to":"c","data":"\#(data)"}"#)
    for _ in 0..<9 where bench.closings[2] == nil { bench.say(1, #"{"type":"signal","to":"b","data":"\#(data)"}"#) }
    #expect(bench.closings[2] == 1008 && bench.closings[3] == nil)
    // What was held for it is free again.
    for _ in 0..<5 { bench.say(1, #"{"type":"signal","to":"c","data":"\#(data)"}"#) }
    #expect(bench.closings[3] == nil)
  }

  @Test func `a long list of who is there counts as many messages`() {
    var bench = HubBench {
      $0.namesPerMessage = 1
      $0.messageBurst = 100
      $0.messagesPerSecond = 1
    }
    for client in 1...60 { bench.enter(client, as: "peer-\(client)") }
    bench.say(1, #"{"type":"list"}"#)
    bench.say(1, #"{"type":"list"}"#)
    #expect(bench.take(1).map(errorCode) == [nil, "too-fast"])
  }

  @Test func `the list follows who comes and goes`() {
    var bench = HubBench()
    for client in 1...3 { bench.enter(client, as: "peer-\(client)") }
    bench.say(1, #"{"type":"list"}"#)
    #expect(bench.take(1).last?.contains(#"["peer-2","peer-3"]"#) == true)
    bench.close(2)
    bench.enter(4, as: "peer-4")
    bench.say(1, #"{"type":"list"}"#)
    #expect(bench.take(1).last?.contains(#"["peer-3","peer-4"]"#) == true)
  }

  @Test func `a network registers names at a rate, and others are not held up by it`() {
    var bench = HubBench {
      $0.registrationBurst = 3
      $0.registrationsPerSecond = 1
    }
    func register(_ client: Int, from address: String) -> String? {
      bench.open(client, from: address)
      bench.say(client, #"{"type":"register","id":"n\#(client)","secret":"0123456789abcdef"}"#)
      let answer = bench.take(client).last ?? ""
      return answer.contains("registered") ? nil : errorCode(answer) ?? "nothing"
    }
    #expect((1...4).map { register($0, from: "192.0.2.1") } == [nil, nil, nil, "too-many-peers"])
    #expect(register(5, from: "192.0.2.2") == nil)
    for client in 6...20 { #expect(register(client, from: "127.0.0.1") == nil, "this machine is excepted") }
    // Whoever has a name may come back to it.
    bench.close(1, .lost)
    bench.open(21, from: "192.0.2.1")
    bench.say(21, #"{"type":"register","id":"n1","secret":"0123456789abcdef"}"#)
    #expect(bench.take(21).first?.contains("registered") == true)
    bench.pass(.seconds(1))
    #expect(register(22, from: "192.0.2.1") == nil)
    #expect(register(23, from: "192.0.2.1") == "too-many-peers")
  }

  @Test func `a network begins calls at a rate, and what belongs to calls passes`() {
    var bench = HubBench {
      $0.callBurst = 2
      $0.callsPerSecond = 1
    }
    for (client, name) in [(1, "alice"), (2, "bob"), (3, "carol")] { bench.enter(client, as: name) }
    func signal(_ client: Int, _ type: String, _ more: String = "") {
      bench.say(client, #"{"type":"signal","to":"bob","data":{"type":"\#(type)","call":"c"\#(more)}}"#)
    }
    signal(1, "call")
    signal(3, "call")
    signal(1, "call")
    #expect(bench.take(2).count == 2, "both are of one network")
    #expect(bench.take(1).map(errorCode) == ["too-fast"])
    for _ in 0..<5 { signal(3, "end") }
    #expect(bench.take(2).count == 5)
    bench.pass(.seconds(1))
    signal(1, "call")
    #expect(bench.take(2).count == 1)
  }

  @Test func `registrations and refusals are told for the audit log`() {
    let secret = AccessToken("sesame-open-sesame")!
    var bench = HubBench(gate: AccessGate(secret: secret))
    let link = SignedLink(.call, issued: HubBench.start)
    bench.open(1, from: "192.0.2.1")
    bench.say(1, #"{"type":"register","id":"bob","token":"wrong"}"#)
    bench.say(1, #"{"type":"register","id":"bob","token":"\#(link.signed(with: secret))"}"#)
    var expected = [
      AuditEvent(.refused("bad-token"), right: .call, from: "192.0.2.1", name: "bob"),
      AuditEvent(.admitted, right: .call, by: .link(link.id), from: "192.0.2.1", name: "bob"),
    ]
    expected[0].isWrongToken = true
    #expect(bench.audited == expected)
  }
}
