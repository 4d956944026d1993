import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

/// A hub that has been restarted knows nobody, and those who were there come back one after the other.
@Suite struct RestartTests {
  private func line(_ name: String, _ number: Int, isReturning: Bool = true) -> String {
    let digits = String(repeating: "0\(number)", count: 16)
    return #"{"type":"register","id":"\#(name)","secret":"\#(digits)","returning":\#(isReturning)}"#
  }

  /// Alice was at the hub before, and is back.
  private func bench(_ change: (inout HubLimits) -> Void = { _ in }) -> HubBench {
    var bench = HubBench(change)
    bench.open(1)
    bench.say(1, line("alice", 1))
    _ = bench.take(1)
    return bench
  }

  @Test(.feature("S3.50")) func `what is said to one who is not back yet waits for him, in its order`() {
    var bench = bench()
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    bench.pass(.seconds(2))
    bench.say(1, #"{"type":"candidate","to":"bob","candidate":null}"#)
    bench.say(1, #"{"type":"bye","to":"bob"}"#)
    bench.pass(.seconds(3))
    #expect(bench.take(1).isEmpty && bench.hub.counters.heldMessages == 3)
    bench.open(2)
    bench.say(2, line("bob", 2))
    #expect(
      bench.take(2).dropFirst() == [
        #"{"type":"signal","from":"alice","data":1}"#, #"{"type":"candidate","from":"alice","candidate":null}"#,
        #"{"type":"bye","from":"alice"}"#,
      ])
    #expect(bench.take(1).isEmpty && bench.hub.counters.heldMessages == 0)
  }

  @Test func `a client that was not there before is served the same`() {
    var bench = bench()
    bench.enter(3, as: "carol")
    bench.say(3, #"{"type":"signal","to":"bob","data":1}"#)
    bench.open(2)
    bench.say(2, line("bob", 2))
    #expect(bench.take(2).last == #"{"type":"signal","from":"carol","data":1}"#)
  }

  @Test func `who does not come back in time is unknown, and after that at once`() {
    var bench = bench()
    bench.pass(.seconds(9))
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(bench.take(1).isEmpty)
    bench.pass(.seconds(1))
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    #expect(bench.hub.counters.heldMessages == 0 && bench.hub.counters.heldBytes == 0)
  }

  @Test func `a hub that begins with strangers, or has run for long, says at once whom it does not know`() {
    var fresh = HubBench()
    fresh.open(1)
    fresh.say(1, line("alice", 1, isReturning: false))
    _ = fresh.take(1)
    fresh.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(fresh.take(1).map(errorCode) == ["unknown-peer"])
    var old = HubBench()
    old.enter(9, as: "zoe")
    old.pass(.seconds(20))
    old.open(1)
    old.say(1, line("alice", 1))
    _ = old.take(1)
    old.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(old.take(1).map(errorCode) == ["unknown-peer"])
  }

  @Test func `what waits is bounded, and names that nobody can have are refused`() {
    var bench = bench {
      $0.heldPerPeer = 2
      $0.heldMessages = 3
    }
    for _ in 0..<3 { bench.say(1, #"{"type":"signal","to":"bob","data":7}"#) }
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    for _ in 0..<2 { bench.say(1, #"{"type":"signal","to":"carol","data":7}"#) }
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    bench.say(1, #"{"type":"signal","to":"a/b","data":7}"#)
    #expect(bench.take(1).map(errorCode) == ["unknown-peer"])
    #expect(bench.hub.counters.heldMessages == 3)
  }
}
