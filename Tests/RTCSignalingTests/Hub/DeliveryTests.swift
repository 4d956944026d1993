import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct DeliveryTests {
  @Test(.feature("S3.3", "S3.7"))
  func `signals, candidates and goodbyes arrive with their sender, as they were written`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.say(1, #"{"type":"signal","to":"bob","from":"mallory","data":{"x": [1.50, 1e400000, "ü"]},"call":"c1"}"#)
    #expect(errorCode(bench.take(1).first) == "malformed")
    bench.say(1, #"{"type":"signal","to":"bob","from":"mallory","data":{"x": [1.50, "ü\n"]},"call":"c1"}"#)
    bench.say(1, #"{"type":"candidate","to":"bob","candidate":{"candidate":"candidate:1","sdpMid":"0","more":1}}"#)
    bench.say(1, #"{"type":"candidate","to":"bob","candidate":null}"#)
    bench.say(1, #"{"type":"bye","to":"bob","reason":"busy"}"#)
    #expect(
      bench.take(2) == [
        #"{"type":"signal","from":"alice","call":"c1","data":{"x": [1.50, "ü\n"]}}"#,
        #"{"type":"candidate","from":"alice","candidate":{"candidate":"candidate:1","sdpMid":"0","more":1}}"#,
        #"{"type":"candidate","from":"alice","candidate":null}"#,
        #"{"type":"bye","from":"alice","reason":"busy"}"#,
      ])
    #expect(bench.take(1).isEmpty)
  }

  @Test func `nobody of the name is said at once`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.say(1, #"{"type":"signal","to":"bob","data":{}}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"error","code":"unknown-peer","message":"There is no peer bob here.","to":"bob"}"#
      ])
  }

  @Test func `messages wait for one whose connection broke, who comes back with the secret`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.close(2, .lost)
    bench.say(1, #"{"type":"signal","to":"bob","data":7}"#)
    #expect(bench.take(1).isEmpty)
    bench.pass(.seconds(20))
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"bob","secret":"02020202020202020202020202020202"}"#)
    let told = bench.take(3)
    #expect(told.first?.contains(#""resumed":true"#) == true)
    #expect(told.last == #"{"type":"signal","from":"alice","data":7}"#)
    bench.pass(.seconds(20))
    bench.say(1, #"{"type":"signal","to":"bob","data":8}"#)
    #expect(bench.take(3).last == #"{"type":"signal","from":"alice","data":8}"#)
  }

  @Test func `who does not come back loses the name, and senders are told`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.close(2, .lost)
    bench.say(1, #"{"type":"signal","to":"bob","data":7}"#)
    bench.say(1, #"{"type":"signal","to":"bob","data":8}"#)
    bench.pass(.seconds(31))
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    #expect(bench.hub.counters.peers == 1)
    #expect(bench.hub.counters.heldMessages == 0)
    #expect(bench.hub.counters.absentPeers == 0)
    #expect(bench.events == [.registered("alice", .native), .registered("bob", .native), .left("bob")])
  }

  @Test func `the owner takes the name from a connection that is still there`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"alice","secret":"01010101010101010101010101010101"}"#)
    #expect(errorCode(bench.take(1).last) == "replaced")
    #expect(bench.closings[1] == 4000)
    bench.close(1, .lost)
    bench.enter(3, as: "bob")
    bench.say(3, #"{"type":"bye","to":"alice"}"#)
    #expect(bench.take(2).last == #"{"type":"bye","from":"bob"}"#)
  }

  @Test func `after a restart of the hub the old secret still names its owner`() {
    var bench = HubBench()
    let line = #"{"type":"register","id":"alice","secret":"01010101010101010101010101010101"}"#
    bench.open(7)
    bench.say(7, line)
    #expect(bench.take(7).first?.contains(#""secret":"01010101010101010101010101010101","resumed":false"#) == true)
    bench.open(8)
    bench.say(8, line)
    #expect(bench.take(8).first?.contains(#""resumed":true"#) == true)
  }

  @Test func `what waits is bounded`() {
    var bench = HubBench { $0.heldPerPeer = 2 }
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.close(2, .lost)
    for _ in 0..<3 { bench.say(1, #"{"type":"signal","to":"bob","data":7}"#) }
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    #expect(bench.hub.counters.heldMessages == 2)
  }
}
