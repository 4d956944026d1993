import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct CallMachineTests {
  private static func signal(_ body: CallSignal.Body, _ call: String, from peer: String) -> CallMachine.Input {
    .signal(CallSignal(call: call, body), from: peer)
  }

  @Test(.feature("S0.32")) func `a call that does not connect within its time is given up`() {
    var options = CallMachine.Options()
    options.connectTimeout = .seconds(7)
    var machine = CallMachine(me: "me", options: options)
    _ = machine.handle(.call(peer: "bob", id: "c"), now: .zero)
    _ = machine.handle(Self.signal(.accept, "c", from: "bob"), now: .zero + .seconds(1))
    #expect(machine.deadline == .zero + .seconds(8))
    #expect(machine.handle(.deadline, now: .zero + .milliseconds(7_999)) == [])
    #expect(machine.handle(.deadline, now: .zero + .seconds(8)).count == 3)
    #expect(machine.state == .ended(CallParty(peer: "bob", call: "c"), .connectTimeout))
    #expect(machine.deadline == nil)
  }

  @Test func `both call at the same moment, and one call comes about`() {
    var alice = CallBench(me: "alice")
    var bob = CallBench(me: "bob")
    #expect(alice.act(.call(peer: "bob", id: "a")).last == "ring a to bob")
    #expect(bob.act(.call(peer: "alice", id: "b")).last == "ring b to alice")
    #expect(alice.act(Self.signal(.ring(), "b", from: "bob")) == [])
    #expect(
      bob.act(Self.signal(.ring(), "a", from: "alice")) == [
        "accept a to alice", "connecting a", "open a with alice as callee",
      ])
    #expect(alice.act(Self.signal(.accept, "a", from: "bob")) == ["connecting a", "open a with bob as caller"])
  }

  @Test func `names are compared as browsers compare them`() {
    // U+FF5E comes before U+1F600 by scalars, after it by UTF-16 units.
    var machine = CallBench(me: "\u{FF5E}")
    _ = machine.act(.call(peer: "\u{1F600}", id: "a"))
    #expect(machine.act(Self.signal(.ring(), "b", from: "\u{1F600}")).count == 3)
  }

  @Test func `what came before the call was taken is not lost`() {
    var bench = CallBench(.rung)
    #expect(bench.act(Self.signal(.description(kind: "offer", sdp: "v=0"), "c", from: "bob")) == [])
    #expect(bench.act(.candidate(ICECandidateInit(candidate: "candidate:1"), from: "bob", call: "c")) == [])
    #expect(
      bench.act(.answer(accept: true)) == [
        "accept c to bob", "connecting c", "open c with bob as callee", "pass offer", "pass a candidate",
      ])
  }

  @Test func `what streams show is known before the tracks they belong to, and may change without a description`() {
    var bench = CallBench(.connected)
    let answer = CallSignal(call: "c", .description(kind: "answer", sdp: "v=0"), streams: ["s": "screen"])
    #expect(bench.act(.signal(answer, from: "bob")) == [#"pass ["s=screen"]"#, "pass answer"])
    let change = CallSignal(call: "c", .streams, streams: ["s": "camera"])
    #expect(bench.act(.signal(change, from: "bob")) == [#"pass ["s=camera"]"#])
    #expect(bench.act(.signal(change, from: "eve")) == [])
  }

  @Test func `a caller who never stops talking fills no memory`() {
    var bench = CallBench(.rung)
    for _ in 0..<1_000 { _ = bench.act(.candidate(ICECandidateInit(candidate: "candidate:1"), from: "bob", call: "c")) }
    let huge = String(repeating: "x", count: 300_000)
    _ = bench.act(Self.signal(.description(kind: "offer", sdp: huge), "c", from: "bob"))
    #expect(bench.act(.answer(accept: true)).count == 3 + 128)
  }

  @Test func `in a room nobody rings`() {
    var bench = CallBench(me: "me", room: "r")
    #expect(
      bench.act(Self.signal(.ring(room: "r"), "c", from: "bob")) == [
        "accept c to bob", "connecting c", "open c with bob as callee",
      ])
    var newcomer = CallBench(me: "me", room: "r")
    #expect(newcomer.act(.call(peer: "bob", id: "n")) == ["ringing n as caller", "ring n in r to bob"])
  }

  @Test(.feature("S0.13")) func `after the end the next call may come or go`() {
    var bench = CallBench(.connected)
    _ = bench.act(.hangUp)
    #expect(bench.act(.call(peer: "carol", id: "n")) == ["ringing n as caller", "ring n to carol"])
  }

  @Test func `every end has a word and a sentence`() {
    let ends: [CallEnd] = [
      .hungUp, .hungUpRemotely, .rejected, .busy, .unsupported, .noAnswer, .missed, .unknownPeer, .vanished,
      .connectTimeout, .connectionLost("x"), .failed("x"), .signalingLost("x"),
    ]
    #expect(Set(ends.map(\.word)).count == ends.count)
    #expect(ends.allSatisfy { $0.sentence(about: "bob").contains("bob") })
    #expect(ends.filter(\.isRegular) == [.hungUp, .hungUpRemotely])
  }
}
