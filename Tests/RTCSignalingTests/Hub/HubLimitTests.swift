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
    for client in 1...200 { bench.open(client) }
    #expect(bench.hub.counters.connections == 200)
    bench.pass(.seconds(11))
    #expect(bench.hub.counters.connections == 0)
    #expect(errorCode(bench.take(77).first) == "never-registered")
    #expect(bench.hub.deadline == nil)
  }

  @Test func `connections beyond the limit are sent away`() {
    var bench = HubBench { $0.connections = 1 }
    bench.open(1)
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
}
