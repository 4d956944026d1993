import RTCPrimitives

/// One line of a description, `type=value`, with its number for error messages.
struct SDPLine {
  var number: Int
  /// The ASCII type letter.
  var type: UInt8
  var value: Substring

  /// The attribute's name and value (nil for a property attribute) of an `a=` line.
  var attribute: (name: String, value: Substring?) {
    let bytes = value.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return (String(value), nil) }
    return (String(value[..<colon]), value[bytes.index(after: colon)...])
  }

  func invalid(_ what: String) -> SDPError { SDPError(line: number, reason: .invalid(what)) }

  /// Cuts `text` into lines ended by CRLF, or LF alone; empty lines are passed over.
  static func split(_ text: String) throws(SDPError) -> [SDPLine] {
    guard text.utf8.count <= PeerLimits.descriptionBytes else {
      throw SDPError(line: 0, reason: .tooMany("bytes", limit: PeerLimits.descriptionBytes))
    }
    let bytes = text.utf8Span.span
    var lines: [SDPLine] = []
    var candidates = 0
    var number = 0
    var start = 0
    while start < bytes.count {
      var newline = start
      var hasControl = false
      while newline < bytes.count, bytes[newline] != UInt8(ascii: "\n") {
        if bytes[newline] < 0x20, bytes[newline] != 0x09 { hasControl = hasControl || !bytes.endsLine(newline) }
        newline += 1
      }
      let end = newline > start && bytes[newline - 1] == UInt8(ascii: "\r") ? newline - 1 : newline
      number += 1
      guard number <= PeerLimits.descriptionLines else {
        throw SDPError(line: number, reason: .tooMany("lines", limit: PeerLimits.descriptionLines))
      }
      if end > start {
        guard end - start <= PeerLimits.lineBytes else {
          throw SDPError(line: number, reason: .tooMany("bytes in the line", limit: PeerLimits.lineBytes))
        }
        guard !hasControl else { throw SDPError(line: number, reason: .controlCharacter) }
        guard end - start > 1, bytes[start + 1] == UInt8(ascii: "=") else {
          throw SDPError(line: number, reason: .notALine)
        }
        if bytes.hasPrefix("a=candidate:", at: start) {
          candidates += 1
          guard candidates <= PeerLimits.describedCandidates else {
            start = newline + 1
            continue
          }
        }
        lines.append(SDPLine(number: number, type: bytes[start], value: text.utf8Slice(start + 2..<end)))
      }
      start = newline + 1
    }
    return lines
  }
}

extension Span<UInt8> {
  /// The text stands at `start`.
  fileprivate func hasPrefix(_ text: String, at start: Int) -> Bool {
    guard count - start >= text.utf8.count else { return false }
    var index = start
    for byte in text.utf8 {
      guard self[index] == byte else { return false }
      index += 1
    }
    return true
  }

  /// The byte is the CR before a line feed or before the end.
  fileprivate func endsLine(_ index: Int) -> Bool {
    self[index] == UInt8(ascii: "\r") && (index + 1 == count || self[index + 1] == UInt8(ascii: "\n"))
  }
}

extension String {
  /// The part between two distances in bytes, which takes the same time however far it is.
  func utf8Slice(_ range: Range<Int>) -> Substring {
    self[utf8.index(startIndex, offsetBy: range.lowerBound)..<utf8.index(startIndex, offsetBy: range.upperBound)]
  }
}

/// Collects lines, each ended by CRLF.
struct SDPWriter {
  private(set) var text = ""

  /// Appends a line, without control characters except tabs: a value set by an application cannot begin a line of its
  /// own.
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

  /// The text after `prefix`; nil if the text does not begin with it.
  func after(_ prefix: String) -> Substring? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return Substring(utf8.dropFirst(prefix.utf8.count))
  }

  /// The part before the first space, and the rest without leading spaces.
  var firstFieldAndRest: (Substring, Substring) {
    let bytes = utf8
    guard let space = bytes.firstIndex(of: UInt8(ascii: " ")) else { return (self, "") }
    return (self[..<space], Substring(bytes[space...].drop(while: { $0 == UInt8(ascii: " ") })))
  }
}
