import RTCPrimitives
import RTCSignaling
import Testing

/// The list of peers and its changes.
@Suite struct PresenceTests {
  private let first = "01010101-0101-4101-8101-010101010101"

  @Test func `who asks is told who else can be called, whatever their rooms`() {
    var bench = HubBench()
    for (client, name) in [(1, "carol"), (2, "alice"), (3, "bob")] { bench.enter(client, as: name) }
    bench.say(2, #"{"type":"join","room":"den"}"#)
    bench.say(3, #"{"type":"list"}"#)
    #expect(bench.take(3) == [#"{"type":"present","peers":["alice","carol"]}"#])
    bench.enter(4, as: "dave")
    #expect(bench.take(3).isEmpty)
  }

  @Test func `who follows is told who comes and goes, until it says otherwise`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.enter(2, as: "bob")
    bench.close(2)
    #expect(
      bench.take(1) == [
        #"{"type":"present","peers":[]}"#, #"{"type":"peer-arrived","peer":"bob"}"#,
        #"{"type":"peer-gone","peer":"bob"}"#,
      ])
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.enter(3, as: "carol")
    #expect(bench.take(1) == [#"{"type":"present","peers":[]}"#, #"{"type":"peer-arrived","peer":"carol"}"#])
    bench.say(1, #"{"type":"list"}"#)
    bench.enter(4, as: "dave")
    #expect(bench.take(1) == [#"{"type":"present","peers":["carol"]}"#])
  }

  @Test func `a broken connection is not yet gone, and a return is no arrival`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.say(1, #"{"type":"list","follow":true}"#)
    _ = bench.take(1)
    bench.close(2, .lost)
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"bob","secret":"02020202020202020202020202020202"}"#)
    #expect(bench.take(1).isEmpty)
    bench.close(3, .lost)
    bench.pass(.seconds(31))
    #expect(bench.take(1) == [#"{"type":"peer-gone","peer":"bob"}"#])
  }

  @Test func `nobody without a name, and so without the token, learns who is there`() {
    var bench = HubBench(gate: AccessGate(secret: AccessToken("sesame")))
    bench.open(1)
    bench.say(1, #"{"type":"list"}"#)
    bench.say(1, #"{"type":"register","id":"eve","token":"guess"}"#)
    bench.say(1, #"{"type":"list","follow":true}"#)
    #expect(bench.take(1).map(errorCode) == ["not-registered", "bad-token", "not-registered"])
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"bob","token":"sesame"}"#)
    #expect(bench.take(1).isEmpty)
  }

  @Test func `those who do not want it, and SkyRTC clients, whom only their room can call, are not listed`() {
    var bench = HubBench()
    bench.enter(1, as: "alice")
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"shy","listed":false}"#)
    bench.open(3, .skyRTC)
    bench.say(3, #"{"eventName":"__join","data":{"room":"100"}}"#)
    bench.open(4, .peerJS, query: ["id": "peer", "token": "t", "key": "peerjs"])
    #expect(bench.take(1) == [#"{"type":"present","peers":[]}"#, #"{"type":"peer-arrived","peer":"peer"}"#])
    bench.close(2)
    bench.close(3)
    #expect(bench.take(1).isEmpty)
    bench.say(1, #"{"type":"register","id":"x","listed":"no"}"#)
    #expect(errorCode(bench.take(1).last) == "malformed")
  }

  @Test func `more followers than the limit get the list and a word, and questions count for what they cost`() {
    var bench = HubBench {
      $0.followers = 1
      $0.messageBurst = 25
    }
    bench.enter(1, as: "alice")
    bench.enter(2, as: "bob")
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.say(2, #"{"type":"list","follow":true}"#)
    let told = bench.take(2)
    #expect(told.first == #"{"type":"present","peers":["alice"]}"#)
    #expect(errorCode(told.last) == "too-many-followers")
    bench.close(1)
    // A place is free again.
    bench.say(2, #"{"type":"list","follow":true}"#)
    bench.say(2, #"{"type":"list","follow":true}"#)
    let later = bench.take(2)
    #expect(later.first == #"{"type":"present","peers":[]}"#)
    #expect(errorCode(later.last) == "too-fast")
    bench.enter(3, as: "carol")
    #expect(bench.take(2) == [#"{"type":"peer-arrived","peer":"carol"}"#])
  }
}
