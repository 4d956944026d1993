import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct SkyRTCTests {
  private let first = "01010101-0101-4101-8101-010101010101"
  private let second = "02020202-0202-4202-8202-020202020202"

  private func bench() -> HubBench {
    var bench = HubBench()
    for client in [1, 2] {
      bench.open(client, .skyRTC)
      bench.say(client, #"{"eventName":"__join","data":{"room":"100"}}"#)
    }
    return bench
  }

  @Test(.feature("S3.23", "S3.24", "S3.25", "S3.26"))
  func `members and the newcomer learn of each other, and of leavers`() {
    var bench = bench()
    #expect(
      bench.take(1) == [
        #"{"eventName":"_peers","data":{"connections":[],"you":"\#(first)"}}"#,
        #"{"eventName":"_new_peer","data":{"socketId":"\#(second)"}}"#,
      ])
    #expect(bench.take(2) == [#"{"eventName":"_peers","data":{"connections":["\#(first)"],"you":"\#(second)"}}"#])
    bench.say(2, #"{"eventName":"__leave","data":{}}"#)
    #expect(bench.take(1) == [#"{"eventName":"_remove_peer","data":{"socketId":"\#(second)"}}"#])
    bench.say(2, #"{"eventName":"__join","data":{"room":100}}"#)
    _ = bench.take(1)
    bench.close(2, .lost)
    #expect(bench.take(1) == [#"{"eventName":"_remove_peer","data":{"socketId":"\#(second)"}}"#])
  }

  @Test(.feature("S3.27", "S3.28", "S3.29", "S3.30", "S3.31", "S3.32"))
  func `offers, answers and candidates with label and id are handed on`() {
    var bench = bench()
    _ = bench.take(1)
    bench.say(2, #"{"eventName":"__offer","data":{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"\#(first)"}}"#)
    bench.say(2, #"{"eventName":"__ice_candidate","data":{"id":"0","label":1,"candidate":"c","socketId":"\#(first)"}}"#)
    #expect(
      bench.take(1) == [
        #"{"eventName":"_offer","data":{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"\#(second)"}}"#,
        #"{"eventName":"_ice_candidate","data":{"id":"0","label":1,"candidate":"c","socketId":"\#(second)"}}"#,
      ])
    _ = bench.take(2)
    bench.say(1, #"{"eventName":"__answer","data":{"sdp":{"type":"answer","sdp":"v=0"},"socketId":"\#(second)"}}"#)
    #expect(
      bench.take(2) == [#"{"eventName":"_answer","data":{"sdp":{"type":"answer","sdp":"v=0"},"socketId":"\#(first)"}}"#]
    )
  }

  @Test(.feature("S3.33")) func `a native client in the room sends candidates that carry id and label`() {
    var bench = bench()
    bench.enter(3, as: "carol")
    bench.say(3, #"{"type":"join","room":"100"}"#)
    #expect(bench.take(3) == [#"{"type":"peers","room":"100","peers":["\#(first)","\#(second)"]}"#])
    _ = bench.take(1)
    bench.say(3, #"{"type":"signal","to":"\#(first)","data":{"call":"k","type":"call","media":{},"room":"100"}}"#)
    #expect(bench.take(3) == [#"{"type":"signal","from":"\#(first)","data":{"call":"k","type":"accept"}}"#])
    bench.say(
      3,
      #"{"type":"signal","to":"\#(first)","data":{"call":"k","type":"description","#
        + #""description":{"type":"offer","sdp":"v=0"}}}"#)
    bench.say(
      3,
      #"{"type":"candidate","to":"\#(first)","call":"k","candidate":{"candidate":"c","sdpMid":"a","sdpMLineIndex":2}}"#)
    #expect(
      bench.take(1) == [
        #"{"eventName":"_offer","data":{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"carol"}}"#,
        #"{"eventName":"_ice_candidate","data":{"id":"a","label":2,"candidate":"c","socketId":"carol"}}"#,
      ])
    bench.say(1, #"{"eventName":"__ice_candidate","data":{"id":"0","label":1,"candidate":"c","socketId":"carol"}}"#)
    bench.say(1, #"{"eventName":"__answer","data":{"sdp":{"type":"answer","sdp":"v=0"},"socketId":"carol"}}"#)
    #expect(
      bench.take(3) == [
        #"{"type":"candidate","from":"\#(first)","call":"k","#
          + #""candidate":{"candidate":"c","sdpMid":"0","sdpMLineIndex":1}}"#,
        #"{"type":"signal","from":"\#(first)","data":{"call":"k","type":"description","#
          + #""description":{"type":"answer","sdp":"v=0"}}}"#,
      ])
  }

  @Test(.feature("S3.34")) func `a SkyRTC newcomer calls a native member, whom nobody rings`() {
    var bench = bench()
    bench.enter(3, as: "carol")
    bench.say(3, #"{"type":"join","room":"100"}"#)
    bench.open(4, .skyRTC)
    bench.say(4, #"{"eventName":"__join","data":{"room":"100"}}"#)
    _ = bench.take(3)
    let newcomer = "04040404-0404-4404-8404-040404040404"
    for _ in 0..<2 {
      bench.say(4, #"{"eventName":"__offer","data":{"sdp":{"type":"offer","sdp":"v=0"},"socketId":"carol"}}"#)
    }
    let description =
      #"{"type":"signal","from":"\#(newcomer)","data":{"call":"rc_\#(newcomer).1","type":"description","#
      + #""description":{"type":"offer","sdp":"v=0"}}}"#
    #expect(
      bench.take(3) == [
        #"{"type":"signal","from":"\#(newcomer)","data":{"call":"rc_\#(newcomer).1","type":"call","#
          + #""media":{"audio":true,"video":true},"room":"100"}}"#,
        description, description,
      ])
    bench.close(4)
    #expect(bench.take(3) == [#"{"type":"peer-left","room":"100","peer":"\#(newcomer)"}"#])
    #expect(bench.hub.counters.bridges == 0)
  }

  @Test func `a SkyRTC client in another room cannot be called`() {
    var bench = bench()
    bench.enter(3, as: "carol")
    bench.say(3, #"{"type":"signal","to":"\#(first)","data":{"call":"k","type":"call","media":{}}}"#)
    #expect(bench.take(3).map(errorCode) == ["incompatible"])
  }

  @Test func `what cannot be read is said by an event`() {
    var bench = bench()
    _ = bench.take(1)
    bench.say(1, #"{"eventName":"__dance","data":{}}"#)
    bench.say(1, #"{"eventName":"__offer","data":{"socketId":"x"}}"#)
    bench.say(1, #"{"eventName":"__offer","data":{"sdp":"v=0","socketId":"x"}}"#)
    let told = bench.take(1)
    #expect(told.count == 3)
    #expect(told.allSatisfy { $0.hasPrefix(#"{"eventName":"_error","data":{"code":"#) })
  }
}
