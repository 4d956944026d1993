/// One line of a description, `type=value`, with its number for error messages.
struct SDPLine {
  var number: Int
  /// The ASCII type letter.
  var type: UInt8
  var value: Substring

  /// The attribute's name and value (nil for a property attribute) of an `a=` line.
  var attribute: (name: Substring, value: Substring?) {
    let bytes = value.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return (value, nil) }
    return (value[..<colon], value[bytes.index(after: colon)...])
  }

  func invalid(_ what: String) -> SDPError { SDPError(line: number, reason: .invalid(what)) }

  /// Cuts `text` into lines ended by CRLF, or LF alone; empty lines are passed over.
  static func split(_ text: String) throws(SDPError) -> [SDPLine] {
    let bytes = text.utf8
    guard bytes.count <= SDPLimits.bytes else {
      throw SDPError(line: 0, reason: .tooMany("bytes", limit: SDPLimits.bytes))
    }
    var lines: [SDPLine] = []
    var number = 0
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let newline = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      var end = newline
      if end > start, bytes[bytes.index(before: end)] == UInt8(ascii: "\r") { end = bytes.index(before: end) }
      number += 1
      guard number <= SDPLimits.lines else {
        throw SDPError(line: number, reason: .tooMany("lines", limit: SDPLimits.lines))
      }
      if end > start { lines.append(try parse(text[start..<end], number: number)) }
      start = newline < bytes.endIndex ? bytes.index(after: newline) : newline
    }
    return lines
  }

  private static func parse(_ line: Substring, number: Int) throws(SDPError) -> SDPLine {
    let bytes = line.utf8
    guard bytes.count <= SDPLimits.lineBytes else {
      throw SDPError(line: number, reason: .tooMany("bytes in the line", limit: SDPLimits.lineBytes))
    }
    guard bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else {
      throw SDPError(line: number, reason: .controlCharacter)
    }
    let equals = bytes.index(after: bytes.startIndex)
    guard equals < bytes.endIndex, bytes[equals] == UInt8(ascii: "=") else {
      throw SDPError(line: number, reason: .notALine)
    }
    return SDPLine(number: number, type: bytes[bytes.startIndex], value: line[bytes.index(after: equals)...])
  }
}

/// Collects lines, each ended by CRLF.
struct SDPWriter {
  private(set) var text = ""

  /// Control characters but tabs are left out: no value set by an application can begin a line of its own.
  mutating func line(_ line: String) {
    let isAllowed = { (byte: UInt32) in byte >= 0x20 || byte == 0x09 }
    if line.utf8.allSatisfy({ isAllowed(UInt32($0)) }) {
      text += line
    } else {
      text.unicodeScalars.append(contentsOf: line.unicodeScalars.filter { isAllowed($0.value) })
    }
    text += "\r\n"
  }

  mutating func attribute(_ name: String) { line("a=" + name) }
  mutating func attribute(_ name: String, _ value: String) { line("a=\(name):\(value)") }
}

extension Substring {
  /// The parts between spaces; runs of spaces count as one.
  var fields: [Substring] { utf8.split(separator: UInt8(ascii: " ")).map(Substring.init) }

  /// The number written in plain decimal digits (no sign), or nil when it is none or does not fit.
  func decimal<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    guard (1...20).contains(utf8.count), utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Number(self)
  }

  /// The part before the first space, and the rest without leading spaces.
  var firstFieldAndRest: (Substring, Substring) {
    let bytes = utf8
    guard let space = bytes.firstIndex(of: UInt8(ascii: " ")) else { return (self, "") }
    return (self[..<space], Substring(bytes[space...].drop(while: { $0 == UInt8(ascii: " ") })))
  }
}
