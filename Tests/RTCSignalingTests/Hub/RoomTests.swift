import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct RoomTests {
  @Test(.feature("S3.9", "S3.10", "S3.11", "S3.12")) func `the newcomer learns who is there, and they of the newcomer`()
  {
    var bench = HubBench()
    for (client, name) in [(1, "a"), (2, "b"), (3, "c")] {
      bench.enter(client, as: name)
      bench.say(client, #"{"type":"join","room":"den"}"#)
    }
    #expect(
      bench.take(1) == [
        #"{"type":"peers","room":"den","peers":[]}"#, #"{"type":"peer-joined","room":"den","peer":"b"}"#,
        #"{"type":"peer-joined","room":"den","peer":"c"}"#,
      ])
    #expect(bench.take(3) == [#"{"type":"peers","room":"den","peers":["a","b"]}"#])
    _ = bench.take(2)
    bench.say(1, #"{"type":"leave","room":"den"}"#)
    #expect(bench.take(2) == [#"{"type":"peer-left","room":"den","peer":"a"}"#])
    bench.close(3)
    #expect(bench.take(2) == [#"{"type":"peer-left","room":"den","peer":"c"}"#])
    bench.say(1, #"{"type":"leave","room":"den"}"#)
    #expect(errorCode(bench.take(1).last) == "not-in-room")
    bench.close(2)
    #expect(bench.hub.counters.rooms == 0)
  }

  @Test func `a lost connection keeps its place for a while, and gets the list when it is back`() {
    var bench = HubBench()
    for (client, name) in [(1, "a"), (2, "b")] {
      bench.enter(client, as: name)
      bench.say(client, #"{"type":"join","room":"den"}"#)
    }
    _ = bench.take(1)
    bench.close(2, .lost)
    #expect(bench.take(1).isEmpty)
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"b","secret":"02020202020202020202020202020202"}"#)
    #expect(bench.take(3).last == #"{"type":"peers","room":"den","peers":["a"]}"#)
    bench.close(3, .lost)
    bench.pass(.seconds(31))
    #expect(bench.take(1).last == #"{"type":"peer-left","room":"den","peer":"b"}"#)
  }

  @Test func `rooms, their members and each one's rooms are limited`() {
    var bench = HubBench {
      $0.rooms = 2
      $0.roomMembers = 1
      $0.roomsPerPeer = 1
    }
    for (client, name) in [(1, "a"), (2, "b"), (3, "c")] { bench.enter(client, as: name) }
    bench.say(1, #"{"type":"join","room":"x"}"#)
    bench.say(1, #"{"type":"join","room":"y"}"#)
    bench.say(2, #"{"type":"join","room":"x"}"#)
    bench.say(2, #"{"type":"join","room":"y"}"#)
    bench.say(3, #"{"type":"join","room":"z"}"#)
    bench.say(3, #"{"type":"join","room":" "}"#)
    #expect(errorCode(bench.take(1).last) == "too-many-rooms")
    #expect(bench.take(2).map(errorCode) == ["room-full", nil])
    #expect(bench.take(3).map(errorCode) == ["too-many-rooms", "bad-room"])
  }
}
