import RTCPrimitives
import RTCSignaling
import Testing

/// REFERENCE S2.5–S2.13: offers with `type`, `src`, `dst` and a payload of `type`, `connectionId` and `sdp`.
@Suite struct PeerJSTests {
  private func query(_ id: String, token: String = "tok", key: String = "peerjs") -> [String: String] {
    ["id": id, "token": token, "key": key]
  }

  private let offer =
    #"{"type":"OFFER","dst":"bob","payload":{"sdp":{"type":"offer","sdp":"v=0"},"type":"media","connectionId":"mc_1","x":1}}"#

  @Test func `Two clients exchange an offer, an answer and candidates as they wrote them`() {
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

  @Test func `A message waits for its receiver, else it expires once for both`() {
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

  @Test func `A name is taken unless its token is shown`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.open(2, .peerJS, query: query("alice", token: "other"))
    #expect(bench.take(2) == [#"{"type":"ID-TAKEN","payload":{"msg":"ID is taken"}}"#])
    #expect(bench.closings[2] == 1008)
    bench.open(3, .peerJS, query: query("alice"))
    #expect(bench.take(3) == [#"{"type":"OPEN"}"#])
    #expect(bench.hub.counters.peers == 1)
  }

  @Test func `A wrong key or a missing id is an error`() throws {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice", key: "other"))
    bench.open(2, .peerJS, query: ["key": "peerjs"])
    for client in [1, 2] { #expect(bench.take(client).first?.hasPrefix(#"{"type":"ERROR","payload":{"msg":"#) == true) }
    #expect(bench.hub.counters.connections == 0)
    var guarded = HubBench(access: HubAccess(shared: try #require(AccessToken("sesame"))))
    guarded.open(1, .peerJS, query: query("alice"))
    #expect(guarded.closings[1] == 1008)
    guarded.open(2, .peerJS, query: query("alice", key: "sesame"))
    #expect(guarded.take(2) == [#"{"type":"OPEN"}"#])
  }

  @Test func `A client that takes leave gives its name back`() {
    var bench = HubBench()
    bench.open(1, .peerJS, query: query("alice"))
    bench.say(1, #"{"type":"LEAVE"}"#)
    #expect(bench.closings[1] == 1000)
    #expect(bench.hub.counters.peers == 0)
  }

  @Test func `A PeerJS client calls one of the native dialect and is answered`() {
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
        #"{"type":"signal","from":"alice","call":"mc_1","data":{"type":"offer","sdp":"v=0"}}"#,
        #"{"type":"candidate","from":"alice","call":"mc_1","candidate":{"candidate":"c","sdpMid":"0","sdpMLineIndex":null}}"#,
      ])
    bench.say(2, #"{"type":"signal","to":"alice","call":"mc_1","data":{"type":"answer","sdp":"v=0"}}"#)
    bench.say(2, #"{"type":"bye","to":"alice"}"#)
    #expect(
      bench.take(1) == [
        #"{"type":"ANSWER","src":"bob","dst":"alice","payload":"#
          + #"{"sdp":{"type":"answer","sdp":"v=0"},"type":"media","connectionId":"mc_1"}}"#,
        #"{"type":"LEAVE","src":"bob","dst":"alice"}"#,
      ])
    bench.say(2, #"{"type":"signal","to":"alice","data":{"text":"hello"}}"#)
    #expect(errorCode(bench.take(2).first) == "incompatible")
  }
}
