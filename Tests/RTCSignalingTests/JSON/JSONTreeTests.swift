import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct JSONTreeTests {
  private func text(_ json: String) throws -> String? {
    if case .string(let text) = try JSONTree(parsing: json.utf8).value { text } else { nil }
  }

  @Test func `values, lines and the order of members are kept`() throws {
    let tree = try JSONTree(parsing: "{\n \"b\": [1, -2.5e1, true],\n\n \"a\": null}".utf8)
    guard case .object(let members) = tree.value else { Issue.record("no object"); return }
    #expect(members.map(\.name) == ["b", "a"])
    #expect(members.map(\.value.line) == [2, 4])
    guard case .array(let list) = members[0].value.value, case .number(let number) = list[1].value else {
      Issue.record("no list"); return
    }
    #expect(number == -25)
  }

  @Test func `escapes are read`() throws {
    #expect(try text(#""\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude00ü""#) == "\"\\/\u{8}\u{C}\n\r\tAé😀ü")
  }

  @Test(arguments: [
    "", "   ", "{", "[", "[1", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{'a':1}", "\"abc", "\"a\nb\"", "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud83dx\"", "01", "-", "1.", ".5", "1e", "+1", "1e999", "NaN", "Infinity",
    "tru",
    "nul", "1 2", "[] x", "// no\n1", "{\"a\":1,\"a\":2}", "{\"a\":1 \"b\":2}", "[1 2]", "\u{0}", "\\u0041",
  ]) func `what is not JSON is refused`(json: String) {
    #expect(throws: JSONError.self) { try JSONTree(parsing: json.utf8) }
  }

  @Test func `text that is not UTF-8 is refused`() {
    #expect(throws: JSONError.self) { try JSONTree(parsing: [0x22, 0xFF, 0xFE, 0x22]) }
    #expect(throws: JSONError.self) { try JSONTree(parsing: [0x22, 0xC0, 0x80, 0x22]) }
  }

  @Test func `an error says its line`() {
    let error = #expect(throws: JSONError.self) { try JSONTree(parsing: "{\n\"a\": 1\n\"b\": 2}".utf8) }
    #expect(error == JSONError(line: 3, problem: "a comma or } is missing"))
  }

  @Test(arguments: ["[", "{\"a\":"]) func `deep nesting is refused before it costs anything`(piece: String) {
    let error = #expect(throws: JSONError.self) {
      try JSONTree(parsing: String(repeating: piece, count: 100_000).utf8)
    }
    #expect(error?.problem.contains("nested") == true)
  }

  @Test func `whatever is broken off or changed ends in a value or an error`() {
    let whole = Array(#"{"a": [1.5e3, "xé😀", {"b": null}], "c": true}"#.utf8)
    var generator = SeededGenerator(seed: 1)
    for length in whole.indices {
      #expect(throws: JSONError.self, "\(length) bytes") { try JSONTree(parsing: whole[..<length]) }
    }
    var (taken, refused) = (0, 0)
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      do throws(JSONError) {
        let tree = try JSONTree(parsing: bytes)
        // Surrounding blanks aside it is all of the text, and what is inside lies in it.
        #expect(tree.range.upperBound <= bytes.endIndex && bytes.startIndex <= tree.range.lowerBound)
        #expect(bytes[tree.range.upperBound...].allSatisfy { $0 == 32 || (9...13).contains($0) })
        taken += 1
      } catch {
        #expect((1...1 + bytes.count { $0 == 10 || $0 == 13 }).contains(error.line) && !error.problem.isEmpty)
        refused += 1
      }
    }
    // Both happen: else the changes are not what they are meant to be.
    #expect(taken > 100 && refused > 10_000)
  }
}
