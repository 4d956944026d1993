import ArgumentParser
import RTCSignaling
import Testing
import rtcast_cli

@Suite struct CallTargetTests {
  @Test func `where a cast goes is read from one word`() throws {
    #expect(try CastTarget(parsing: "https://sfu.example/whip") == .whip("https://sfu.example/whip"))
    #expect(try CastTarget(parsing: "manual") == .manual)
    guard case .hub(let alice) = try CastTarget(parsing: "alice"),
      case .hub(let room) = try CastTarget(parsing: "room:r"),
      case .hub(let far) = try CastTarget(parsing: "wss://hub.example/J%C3%B6rg")
    else {
      Issue.record("These lead to a hub.")
      return
    }
    #expect(alice.place == .peer("alice") && alice.hub == nil)
    #expect(room.place == .room("r") && room.text == "room:r")
    #expect(far.place == .peer("Jörg") && far.hub?.address == HubAddress("wss://hub.example"))
  }

  @Test(arguments: [
    "", "room:", "a/b", "wss://hub.example", "ws:", "http://", "a b\\c", String(repeating: "x", count: 65),
  ]) func `what leads nowhere is refused with what would`(text: String) {
    let error = #expect(throws: ValidationError.self) { try CastTarget(parsing: text) }
    #expect(error?.message.contains("://") == true)
  }
}

@Suite struct PastedDescriptionTests {
  private static let sdp = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n"

  @Test(
    arguments: [
      ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-"], ["  v=0 ", "\to=- 1 1 IN IP4 127.0.0.1\r", "s=-"],
      [#"{"type":"answer","sdp":"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n"}"#],
    ]) func `a description is taken as SDP and as JSON`(lines: [String])
  {
    #expect(PastedDescription.sdp(in: lines) == Self.sdp)
  }

  @Test(arguments: [[], ["hello"], ["{"], [#"{"sdp":7}"#], [#"{"sdp":"hello"}"#], ["[]"]])
  func `anything else is no description`(lines: [String]) { #expect(PastedDescription.sdp(in: lines) == nil) }
}
