import RTCSignaling
import Testing

@Suite struct JSONValueTests {
  @Test func `objects keep their order and arrays their commas`() {
    let value: JSONValue = ["b": .integer(1), "a": [.null, .bool(true), "x"], "empty": .object([])]
    #expect(value.text == #"{"b":1,"a":[null,true,"x"],"empty":{}}"#)
  }

  @Test func `quotes, backslashes and control characters are escaped, everything else stays`() {
    let text = "say \"hi\" \\ \n\r\t\u{01}\u{1B}\u{7F} ü × 🙂"
    #expect(JSONValue.string(text).text == #""say \"hi\" \\ \n\r\t\u0001\u001B\u007F ü × 🙂""#)
  }

  @Test func `B6: what drives a terminal or turns text around is escaped`() {
    let text = "\u{9B}31m \u{202E}fdp \u{2028} \u{E0041}"
    #expect(JSONValue.string(text).text == #""\u009B31m \u202Efdp \u2028 \uDB40\uDC41""#)
    #expect(JSONValue.string("👩\u{200D}👧").text == "\"👩\u{200D}👧\"")
  }

  @Test(arguments: [
    (0.0, "0"), (5.0, "5"), (4.98, "4.98"), (1 / 3, "0.333"), (-2.5, "-2.5"), (0.0001, "0"), (1e20, "1e+20"),
    (.infinity, "null"), (.nan, "null"),
  ]) func `numbers have at most three decimals and are always JSON`(value: Double, text: String) {
    #expect(JSONValue.number(value).text == text)
  }

  @Test func `integers too large for a signed 64-bit number are clamped`() {
    #expect(JSONValue.count(UInt64.max).text == "9223372036854775807")
    #expect(JSONValue.optional(nil as Double?).text == "null")
  }
}
