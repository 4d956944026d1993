import RTCPrimitives
import Testing

@Suite struct ForeignTextTests {
  @Test func `B6: nothing that drives a terminal or turns text around gets through`() {
    #expect("\u{1B}]0;PWNED\u{7}\u{1B}[31mred".foreignText() == "]0;PWNED[31mred")
    #expect("a\u{9B}31mb\u{85}c\u{7F}d\u{0}e".foreignText() == "a31mbcde")
    #expect("\u{202E}txt.exe\u{2066}x\u{200B}\u{FEFF}\u{AD}".foreignText() == "txt.exex")
    #expect("one\u{2028}two\u{2029}three\u{E0041}".foreignText() == "onetwothree")
  }

  @Test func `B6: words of all scripts stay as they are`() {
    for text in ["naïve – 日本語 עברית", "👩\u{200D}👩\u{200D}👧", "می\u{200C}خواهم", "e\u{301}"] {
      #expect(text.foreignText() == text)
    }
  }

  @Test func `B6: line breaks become spaces unless they are kept`() {
    #expect("a\nb\tc\r\nd".foreignText() == "a b c d")
    #expect("a\nb\tc".foreignText(keepsLines: true) == "a\nb\tc")
  }

  @Test func `B6: a long text is cut`() {
    let long = String(repeating: "é", count: 1_000_000)
    #expect(long.foreignText() == String(repeating: "é", count: 200) + "…")
    #expect(String(repeating: "é", count: 200).foreignText().count == 200)
    #expect(long.foreignText(limit: .max) == long)
  }
}
