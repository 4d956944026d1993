/// A JSON text (RFC 8259) as it was written: every value with its line, members in their order. Stricter than most
/// readers: a name given twice, a comma too many or a comment is an error, because a person who wrote it meant something.
package struct JSONTree: Sendable {
  package enum Value: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([(name: String, value: JSONTree)])
  }

  package var value: Value
  /// The line of the value's first character, from 1.
  package var line: Int
  /// The position of the value in the text, in bytes.
  package var range: Range<Int>

  /// Deeper nesting is refused.
  package static let deepest = 32

  package init(parsing text: some Sequence<UInt8>) throws(JSONError) {
    var reader = JSONReader(Array(text))
    self = try reader.readDocument()
  }

  fileprivate init(_ value: Value, line: Int, range: Range<Int>) {
    self.value = value
    self.line = line
    self.range = range
  }

  /// The value in words, for a sentence.
  package var kind: String {
    switch value {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// The position and reason of a JSON error.
package struct JSONError: Error, Hashable, Sendable {
  /// From 1.
  package var line: Int
  /// Half a sentence, such as `a comma or } is missing`.
  package var problem: String

  package init(line: Int, problem: String) {
    self.line = line
    self.problem = problem
  }
}

private struct JSONReader {
  private let bytes: [UInt8]
  private var index = 0
  private var line = 1
  private var depth = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func readDocument() throws(JSONError) -> JSONTree {
    // A byte order mark is what some editors put first.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    skipBlanks()
    if peek == nil { throw error("it is empty") }
    let tree = try readValue()
    skipBlanks()
    if peek != nil { throw error("something follows the end of it") }
    return tree
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private func error(_ problem: String) -> JSONError { JSONError(line: line, problem: problem) }

  private mutating func skipBlanks() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      if byte == 0x0A { line += 1 }
      index += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    index += 1
    return true
  }

  private mutating func readValue() throws(JSONError) -> JSONTree {
    let startLine = line
    let start = index
    let value = try readBareValue()
    return JSONTree(value, line: startLine, range: start..<index)
  }

  private mutating func readBareValue() throws(JSONError) -> JSONTree.Value {
    switch peek {
    case UInt8(ascii: "{"): .object(try readObject())
    case UInt8(ascii: "["): .array(try readArray())
    case UInt8(ascii: "\""): .string(try readString())
    case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): .number(try readNumber())
    default: try readWord()
    }
  }

  private mutating func readWord() throws(JSONError) -> JSONTree.Value {
    let words: [(String, JSONTree.Value)] = [("true", .bool(true)), ("false", .bool(false)), ("null", .null)]
    for (word, value) in words where bytes[index...].starts(with: word.utf8) {
      index += word.utf8.count
      return value
    }
    throw error(peek == nil ? "it ends where a value is missing" : "there is no value where one is wanted")
  }

  private mutating func enter() throws(JSONError) {
    index += 1
    depth += 1
    if depth > JSONTree.deepest { throw error("it is nested deeper than \(JSONTree.deepest) times") }
    skipBlanks()
  }

  private mutating func readArray() throws(JSONError) -> [JSONTree] {
    try enter()
    defer { depth -= 1 }
    var values: [JSONTree] = []
    if take(UInt8(ascii: "]")) { return values }
    while true {
      skipBlanks()
      values.append(try readValue())
      skipBlanks()
      if take(UInt8(ascii: "]")) { return values }
      guard take(UInt8(ascii: ",")) else { throw error("a comma or ] is missing") }
    }
  }

  private mutating func readObject() throws(JSONError) -> [(name: String, value: JSONTree)] {
    try enter()
    defer { depth -= 1 }
    var members: [(name: String, value: JSONTree)] = []
    var names: Set<String> = []
    if take(UInt8(ascii: "}")) { return members }
    while true {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw error("a key in quotation marks is missing") }
      let name = try readString()
      guard names.insert(name).inserted else { throw error("the key \"\(name)\" stands there twice") }
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { throw error("a colon is missing after \"\(name)\"") }
      skipBlanks()
      members.append((name, try readValue()))
      skipBlanks()
      if take(UInt8(ascii: "}")) { return members }
      guard take(UInt8(ascii: ",")) else { throw error("a comma or } is missing") }
    }
  }

  private mutating func readNumber() throws(JSONError) -> Double {
    let start = index
    _ = take(UInt8(ascii: "-"))
    let leadsWithZero = peek == UInt8(ascii: "0")
    let whole = skipDigits()
    var isWellFormed = whole == 1 || whole > 1 && !leadsWithZero
    if take(UInt8(ascii: ".")) { isWellFormed = skipDigits() > 0 && isWellFormed }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      isWellFormed = skipDigits() > 0 && isWellFormed
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard isWellFormed, let value = Double(text), value.isFinite else { throw error("\(text.prefix(40)) is no number") }
    return value
  }

  private mutating func skipDigits() -> Int {
    let start = index
    while let byte = peek, Self.isDigit(byte) { index += 1 }
    return index - start
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private mutating func readString() throws(JSONError) -> String {
    index += 1
    var text: [UInt8] = []
    while let byte = peek {
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let valid = String(validating: text, as: UTF8.self) else { throw error("a text is not UTF-8") }
        return valid
      case UInt8(ascii: "\\"): text += String(try readEscape()).utf8
      case 0..<0x20: throw error("a text does not end in its line")
      default: text.append(byte)
      }
    }
    throw error("a text has no end")
  }

  private mutating func readEscape() throws(JSONError) -> Unicode.Scalar {
    guard let letter = peek else { throw error("a text has no end") }
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try readCodePoint()
    default: throw error("\\\(Unicode.Scalar(letter)) means nothing in a text")
    }
  }

  /// `XXXX`, or `XXXX\uXXXX` for what lies beyond 16 bits.
  private mutating func readCodePoint() throws(JSONError) -> Unicode.Scalar {
    let first = try readHex()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw error("half a character") }
    let second = try readHex()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw error("half a character") }
    return scalar
  }

  private mutating func readHex() throws(JSONError) -> UInt32 {
    let digits = bytes[index..<min(index + 4, bytes.count)]
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("\\u wants four hexadecimal digits") }
    index += 4
    return value
  }
}
