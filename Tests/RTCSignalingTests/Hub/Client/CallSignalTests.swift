import RTCSignaling
import Testing

@Suite struct CallSignalTests {
  @Test(arguments: [
    (
      CallSignal(call: "k", .ring(media: ["audio": true, "video": false], room: "den")),
      #"{"call":"k","type":"call","media":{"audio":true,"video":false},"room":"den"}"#
    ), (CallSignal(call: "k", .accept), #"{"call":"k","type":"accept"}"#),
    (CallSignal(call: "k", .reject(reason: "busy")), #"{"call":"k","type":"reject","reason":"busy"}"#),
    (
      CallSignal(call: "k", .description(kind: "offer", sdp: "v=0\r\n")),
      #"{"call":"k","type":"description","description":{"type":"offer","sdp":"v=0\r\n"}}"#
    ),
    (
      CallSignal(call: "k", .description(kind: "answer", sdp: "v=0"), streams: ["s": "screen"]),
      #"{"call":"k","type":"description","description":{"type":"answer","sdp":"v=0"},"streams":{"s":"screen"}}"#
    ),
    (
      CallSignal(call: "k", .streams, streams: ["s": "camera"]),
      #"{"call":"k","type":"streams","streams":{"s":"camera"}}"#
    ),
    (
      CallSignal(call: "k", .mute(kind: "audio", isMuted: true)),
      #"{"call":"k","type":"mute","kind":"audio","muted":true}"#
    ), (CallSignal(call: "k", .end), #"{"call":"k","type":"end"}"#),
  ]) func `each is written and read as the page does it`(signal: CallSignal, json: String) {
    #expect(signal.json == json)
    #expect(CallSignal(json: json) == signal)
  }

  @Test func `what it does not know it does not mind`() {
    #expect(CallSignal(json: #"{"x":[1],"type":"accept","call":"k"}"#) == CallSignal(call: "k", .accept))
    #expect(CallSignal(json: #"{"type":"reject","call":"k"}"#) == CallSignal(call: "k", .reject(reason: "rejected")))
    #expect(CallSignal(json: #"{"type":"call","call":"k"}"#) == CallSignal(call: "k", .ring()))
  }

  @Test(arguments: [
    "", "7", "{}", #"{"type":"accept"}"#, #"{"call":"k","type":"dance"}"#, #"{"call":7,"type":"end"}"#,
    #"{"call":"k","type":"description"}"#, #"{"call":"k","type":"streams","streams":7}"#,
    #"{"call":"k","type":"description","description":{"type":"offer"}}"#,
    #"{"call":"k","type":"mute","kind":"audio","muted":"yes"}"#,
  ]) func `what is none of them is nil`(json: String) {
    #expect(CallSignal(json: json) == nil)
  }
}
