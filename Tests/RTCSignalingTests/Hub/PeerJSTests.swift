import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

/// Offers with `type`, `src`, `dst` and a payload of `type`, `connectionId` and `sdp`.
@Suite struct PeerJSTests {
  private func query(_ id: String, token: String = "tok", key: String = "peerjs") -> [String: String] {
    ["id": id, "token": token, "key": key]
  }

  private let offer =
    #"{"type":"OFFER","dst":"bob","payload":{"sdp":{"type":"offer","sdp":"v=0"},"type":"media","connectionId":"mc_1","x":1}}"#

  @Test func `two clients exchange an offer, an answer and candidates as they wrote them`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.open(2, .peerJS, query: query("bob"))
    #expect(bench.take(1) == [#"{"type":"OPEN"}"#])
    #expect(bench.take(2) == [#"{"type":"OPEN"}"#])
    bench.say(1, offer)
    #expect(
      bench.take(2) == [
        #"{"type":"OFFER","src":"alice","dst":"bob","payload":"#
          + #"{"sdp":{"type":"offer","sdp":"v=0"},"type":"media","connectionId":"mc_1","x":1}}"#
      ])
    bench.say(2, #"{"type":"ANSWER","src":"mallory","dst":"alice","payload":{"sdp":7}}"#)
    bench.say(2, #"{"type":"CANDIDATE","dst":"alice","payload":{"candidate":{"candidate":"c"},"type":"media"}}"#)
    bench.say(2, #"{"type":"HEARTBEAT"}"#)
    bench.say(2, #"{"type":"LEAVE","dst":"alice"}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"ANSWER","src":"bob","dst":"alice","payload":{"sdp":7}}"#,
        #"{"type":"CANDIDATE","src":"bob","dst":"alice","payload":{"candidate":{"candidate":"c"},"type":"media"}}"#,
        #"{"type":"LEAVE","src":"bob","dst":"alice"}"#,
      ])
    #expect(bench.take(2).isEmpty)
  }

  @Test func `a message waits for its receiver, else it expires once for both`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    _ = bench.take(1)
    bench.say(1, offer)
    bench.pass(.seconds(4))
    #expect(bench.take(1).isEmpty)
    bench.open(2, .peerJS, query: query("bob"))
    #expect(bench.take(2).last?.contains("OFFER") == true)
    bench.close(2)
    bench.say(1, offer)
    bench.say(1, #"{"type":"CANDIDATE","dst":"bob","payload":{}}"#)
    bench.pass(.seconds(6))
    #expect(bench.take(1) == [#"{"type":"EXPIRE","src":"bob","dst":"alice"}"#])
    #expect(bench.hub.counters.heldMessages == 0)
  }

  @Test func `a name is taken unless its token is shown`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.open(2, .peerJS, query: query("alice", token: "other"))
    #expect(bench.take(2) == [#"{"type":"ID-TAKEN","payload":{"msg":"ID is taken"}}"#])
    #expect(bench.closings[2] == 1008)
    bench.open(3, .peerJS, query: query("alice"))
    #expect(bench.take(3) == [#"{"type":"OPEN"}"#])
    #expect(bench.hub.counters.peers == 1)
  }

  @Test func `a wrong key or a missing id is an error`() {
    var bench = HubBench()
    bench.open(2, .peerJS, query: ["key": "peerjs"])
    #expect(bench.take(2).first?.hasPrefix(#"{"type":"ERROR","payload":{"msg":"#) == true)
    #expect(bench.hub.counters.connections == 0)
    var guarded = HubBench(gate: AccessGate(secret: AccessToken("sesame")))
    guarded.open(1, .peerJS, query: query("alice"))
    #expect(guarded.take(1).first?.hasPrefix(#"{"type":"ERROR","payload":{"msg":"#) == true)
    #expect(guarded.closings[1] == 1008)
    guarded.open(2, .peerJS, query: query("alice", key: "sesame"))
    #expect(guarded.take(2) == [#"{"type":"OPEN"}"#])
  }

  @Test(arguments: [
    #"{"ping":"once"}"#, #"{"type":"PRANK"}"#, #"{"type":7}"#, #"{"type":null,"dst":"bob"}"#,
    #"{"type":"OFFERED","dst":"bob","payload":{}}"#,
  ]) func `a message of a type that nobody knows passes in silence`(_ message: String) {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.open(2, .peerJS, query: query("bob"))
    _ = (bench.take(1), bench.take(2))
    for _ in 0..<10 { bench.say(1, message) }
    #expect(bench.take(1).isEmpty && bench.take(2).isEmpty && bench.closings.isEmpty)
    bench.say(1, offer)
    #expect(bench.take(2).count == 1)
  }

  @Test(.feature("S2.2")) func `who can be called is listed for those with the key`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("bob"))
    bench.enter(2, as: "alice")
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"hidden","listed":false}"#)
    #expect(bench.hub.peerNames(showing: "peerjs", from: "192.0.2.1", now: HubBench.time) == ["alice", "bob"])
    var guarded = HubBench(gate: AccessGate(secret: AccessToken("sesame")))
    guarded.open(1, .peerJS, query: query("bob", key: "sesame"))
    #expect(guarded.hub.peerNames(showing: "peerjs", from: "192.0.2.1", now: HubBench.time) == nil)
    #expect(guarded.hub.peerNames(showing: "sesame", from: "192.0.2.1", now: HubBench.time) == ["bob"])
    // Where each name has a token of its own there is none for strangers.
    let named = HubBench(gate: AccessGate(secret: nil, perPeer: ["bob": AccessToken("his")!]))
    #expect(named.hub.peerNames(showing: "his", from: "192.0.2.1", now: HubBench.time) == nil)
  }

  @Test func `a client that takes leave gives its name back`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.say(1, #"{"type":"LEAVE"}"#)
    #expect(bench.closings[1] == 1000)
    #expect(bench.hub.counters.peers == 0)
  }

  @Test(.feature("S2.9", "S2.10", "S2.11", "S2.12", "S2.13"))
  func `a PeerJS client calls one of the native dialect, which rings, and is answered`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.enter(2, as: "bob")
    _ = bench.take(1)
    bench.say(1, offer)
    bench.say(
      1,
      #"{"type":"CANDIDATE","dst":"bob","payload":{"candidate":{"candidate":"c","sdpMid":"0"},"connectionId":"mc_1"}}"#)
    #expect(
      bench.take(2) == [
        #"{"type":"signal","from":"alice","data":{"call":"mc_1","type":"call","media":{"audio":true,"video":true}}}"#,
        #"{"type":"signal","from":"alice","data":{"call":"mc_1","type":"description","#
          + #""description":{"type":"offer","sdp":"v=0"}}}"#,
        #"{"type":"candidate","from":"alice","call":"mc_1","candidate":{"candidate":"c","sdpMid":"0","sdpMLineIndex":null}}"#,
      ])
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"mc_1","type":"accept"}}"#)
    bench.say(
      2,
      #"{"type":"signal","to":"alice","data":{"call":"mc_1","type":"description","#
        + #""description":{"type":"answer","sdp":"v=0"}}}"#)
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"mc_1","type":"end"}}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"ANSWER","src":"bob","dst":"alice","payload":"#
          + #"{"sdp":{"type":"answer","sdp":"v=0"},"type":"media","connectionId":"mc_1"}}"#,
        #"{"type":"LEAVE","src":"bob","dst":"alice"}"#,
      ])
    bench.say(2, #"{"type":"signal","to":"alice","data":{"text":"hello"}}"#)
    #expect(errorCode(bench.take(2).first) == "incompatible")
  }

  @Test(.feature("S2.3", "S2.9"))
  func `a connectionId of the first fourteen characters of a UUID names the call on both sides`() {
    let connection = "0f8fad5bd9cb46"
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.enter(2, as: "bob")
    _ = bench.take(1)
    bench.say(1, offer.replacing("mc_1", with: connection))
    #expect(bench.take(2).allSatisfy { $0.contains(#""call":"\#(connection)""#) })
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"\#(connection)","type":"accept"}}"#)
    bench.say(
      2,
      #"{"type":"signal","to":"alice","data":{"call":"\#(connection)","type":"description","#
        + #""description":{"type":"answer","sdp":"v=0"}}}"#)
    #expect(bench.take(1).first?.contains(#""connectionId":"\#(connection)""#) == true)
  }

  @Test(.feature("S2.4", "S2.5", "S2.6", "S2.7", "S2.8"))
  func `a native client calls a PeerJS client, for whom the hub accepts`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.enter(2, as: "bob")
    _ = bench.take(1)
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"c9","type":"call","media":{"audio":true}}}"#)
    #expect(bench.take(2) == [#"{"type":"signal","from":"alice","data":{"call":"c9","type":"accept"}}"#])
    #expect(bench.take(1).isEmpty)
    bench.say(
      2,
      #"{"type":"signal","to":"alice","data":{"call":"c9","type":"description","#
        + #""description":{"type":"offer","sdp":"v=0\r\n"}}}"#)
    bench.say(
      2, #"{"type":"candidate","to":"alice","call":"c9","candidate":{"candidate":"c","sdpMid":"0","sdpMLineIndex":0}}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"OFFER","src":"bob","dst":"alice","payload":"#
          + #"{"sdp":{"type":"offer","sdp":"v=0\r\n"},"type":"media","connectionId":"c9"}}"#,
        #"{"type":"CANDIDATE","src":"bob","dst":"alice","payload":"#
          + #"{"candidate":{"candidate":"c","sdpMid":"0","sdpMLineIndex":0},"type":"media","connectionId":"c9"}}"#,
      ])
    bench.say(
      1, #"{"type":"ANSWER","dst":"bob","payload":{"sdp":{"type":"answer","sdp":"v=0"},"connectionId":"c9"}}"#)
    #expect(
      bench.take(2) == [
        #"{"type":"signal","from":"alice","data":{"call":"c9","type":"description","#
          + #""description":{"type":"answer","sdp":"v=0"}}}"#
      ])
    bench.say(1, #"{"type":"LEAVE","dst":"bob"}"#)
    #expect(bench.take(2) == [#"{"type":"bye","from":"alice"}"#])
  }

  @Test func `what a native client offers is a call, whatever the name that it gave it`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.enter(2, as: "bob")
    _ = bench.take(1)
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"dc_9","type":"call","media":{"audio":true}}}"#)
    bench.say(
      2,
      #"{"type":"signal","to":"alice","data":{"call":"dc_9","type":"description","#
        + #""description":{"type":"offer","sdp":"v=0"}}}"#)
    #expect(bench.take(1).first?.contains(#""type":"media","connectionId":"dc_9""#) == true)
    // One that a PeerJS client opened stays what it is.
    bench.say(
      1,
      #"{"type":"OFFER","dst":"bob","payload":{"sdp":{"type":"offer","sdp":"v=0"},"type":"data","connectionId":"dc_1"}}"#
    )
    bench.say(
      2,
      #"{"type":"signal","to":"alice","data":{"call":"dc_1","type":"description","#
        + #""description":{"type":"answer","sdp":"v=0"}}}"#)
    #expect(bench.take(1).first?.contains(#""type":"data","connectionId":"dc_1""#) == true)
  }

  @Test func `a rejected PeerJS caller is told to leave`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.enter(2, as: "bob")
    bench.say(1, offer)
    _ = bench.take(1)
    bench.say(2, #"{"type":"signal","to":"alice","data":{"call":"mc_1","type":"reject","reason":"busy"}}"#)
    #expect(bench.take(1) == [#"{"type":"LEAVE","src":"bob","dst":"alice"}"#])
    _ = bench.take(2)
    bench.say(1, offer)
    #expect(bench.take(2).first?.contains(#""type":"call""#) == true)
  }
}
