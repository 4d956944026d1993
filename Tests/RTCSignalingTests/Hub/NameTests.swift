import RTCSignaling
import Testing

/// Names of peers and rooms, in the scripts of the world.
@Suite struct NameTests {
  private func answer(to line: String) -> String {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, line)
    return bench.take(1).first ?? ""
  }

  private func register(_ name: String) -> String { answer(to: #"{"type":"register","id":"\#(name)"}"#) }

  @Test(arguments: [
    // A word of Persian with a non-joiner, of Hindi with both joiners, of Malayalam that ends with a joiner.
    "می\u{200C}خواهم", "क्\u{200D}ष क्\u{200C}ष", "അവന\u{0D4D}\u{200D}",
    // A family, a woman of science with a skin colour, the rainbow flag, the flag of Scotland.
    "👩\u{200D}👩\u{200D}👧", "👩🏽\u{200D}🔬", "🏳\u{FE0F}\u{200D}🌈",
    "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    String(repeating: "東", count: 64), String(repeating: "x", count: 64), String(repeating: "😀", count: 64),
  ])
  func `a name is what people write, of as many characters as they count`(name: String) {
    #expect(register(name).contains(#""type":"registered""#))
  }

  @Test(arguments: [
    // Joiners where nothing joins would make two names that look alike.
    "al\u{200D}ice", "al\u{200C}ice", "\u{200D}alice", "alice\u{200C}", "می\u{200C}", "👩\u{200D}", "👩\u{200D}x",
    "1\u{200D}2",
    "東\u{200C}京", "x\u{E0067}", "\u{200B}", "a\u{2066}b",
    String(repeating: "東", count: 65), String(repeating: "e\u{0301}", count: 65),
  ])
  func `a name that hides something or is too long is refused`(name: String) {
    #expect(errorCode(register(name)) == "bad-name")
  }

  @Test func `two spellings of a name are one name, and one is told to all`() {
    var bench = HubBench()
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"zoe\#u{0308}"}"#)
    #expect(bench.take(1).first?.unicodeScalars.contains("\u{EB}") == true)
    bench.enter(2, as: "bob")
    for (client, room) in [(1, "cafe\u{0301}"), (2, "caf\u{E9}")] {
      bench.say(client, #"{"type":"join","room":"\#(room)"}"#)
    }
    let list = bench.take(2).last ?? ""
    #expect(Array(list.unicodeScalars) == Array(#"{"type":"peers","room":"café","peers":["zoë"]}"#.unicodeScalars))
    bench.say(2, #"{"type":"signal","to":"zoe\#u{0308}","data":1}"#)
    #expect(bench.take(1).last?.contains(#""data":1"#) == true)
  }

  @Test func `a room has signs that addresses need, and a peer has not`() {
    var bench = HubBench()
    bench.enter(1, as: "a")
    for room in ["c#", "a/b", "a?b", "a\\\\b"] {
      bench.say(1, #"{"type":"join","room":"\#(room)"}"#)
      #expect(bench.take(1) == [#"{"type":"peers","room":"\#(room)","peers":[]}"#])
    }
    #expect(errorCode(register("c#")) == "bad-name")
  }

  @Test func `a refused room is named, and no fault of the person's name`() {
    var bench = HubBench()
    bench.enter(1, as: "a")
    let room = String(repeating: "r", count: 65)
    bench.say(1, #"{"type":"join","room":"\#(room)"}"#)
    let answer = bench.take(1).first
    #expect(errorCode(answer) == "bad-room")
    #expect(answer?.contains(#""room":"\#(room)""#) == true)
  }
}
