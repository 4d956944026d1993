/// Compound Text, in which titles were written before UTF-8 (the X Consortium's "Compound Text Encoding", version 1.1):
/// ISO 2022, where escape sequences say what set the bytes below and above 0x80 are of.
struct CompoundText {
  /// A set of characters that bytes stand for.
  private enum CharacterSet: Equatable {
    case ascii
    /// JIS X 0201: ASCII but for the yen and the overline, and katakana.
    case japaneseRoman, katakana
    /// ISO 8859, by its part.
    case latin(Int)
    /// Two bytes a character.
    case double(DoubleByteSet)
    case unknown
  }

  private enum DoubleByteSet: UInt8 {
    case gb2312 = 0x41, jisX0208 = 0x42, ksC5601 = 0x43, jisX0212 = 0x44, cns1 = 0x47, cns2 = 0x48
  }

  /// The character set of the bytes 0x20…0x7E.
  private var left = CharacterSet.ascii
  /// The character set of the bytes from 0xA0 on.
  private var right = CharacterSet.latin(1)
  private var text = ""
  /// Bytes of one set that are still to be converted together.
  private var run: [UInt8] = []
  private var runSet = CharacterSet.ascii

  /// Decodes `bytes`. It never fails: a part that cannot be decoded becomes U+FFFD or is left out.
  mutating func decode(_ bytes: [UInt8]) -> String {
    var rest = bytes[...]
    while let byte = rest.first {
      switch byte {
      case 0x1B:
        flush()
        rest = escape(rest.dropFirst())
      case 0x9B:  // a direction: parameters up to a letter
        rest = rest.dropFirst().drop { (0x20...0x3F).contains($0) }.dropFirst()
      case 0x20..<0x7F: rest = take(rest, left)
      case 0xA0...: rest = take(rest, right)
      default:
        if byte == 0x09 || byte == 0x0A { take(0x20, of: .ascii) }
        rest = rest.dropFirst()
      }
    }
    flush()
    return text
  }

  // MARK: - Characters

  private mutating func take(_ bytes: ArraySlice<UInt8>, _ set: CharacterSet) -> ArraySlice<UInt8> {
    guard case .double = set, bytes.first != 0x20 else {
      take(bytes[bytes.startIndex], of: bytes.first == 0x20 ? .ascii : set)
      return bytes.dropFirst()
    }
    for byte in bytes.prefix(2) { take(byte, of: set) }
    return bytes.dropFirst(2)
  }

  private mutating func take(_ byte: UInt8, of set: CharacterSet) {
    if set != runSet { flush() }
    runSet = set
    run.append(byte)
  }

  private mutating func flush() {
    let bytes = run
    run = []
    guard !bytes.isEmpty else { return }
    switch runSet {
    case .ascii: text += LegacyText.latin1(bytes.map { $0 & 0x7F })
    case .japaneseRoman:
      for byte in bytes.map({ $0 & 0x7F }) {
        text += byte == 0x5C ? "\u{A5}" : byte == 0x7E ? "\u{203E}" : LegacyText.latin1([byte])
      }
    case .katakana:
      for byte in bytes.map({ UInt32($0 | 0x80) }) {
        text.unicodeScalars.append(
          (0xA1...0xDF).contains(byte) ? Unicode.Scalar(0xFF61 + byte - 0xA1) ?? "\u{FFFD}" : "\u{FFFD}")
      }
    case .latin(1): text += LegacyText.latin1(bytes.map { $0 | 0x80 })
    case .latin(let part): text += LegacyText.decode(bytes.map { $0 | 0x80 }, as: "ISO-8859-\(part)")
    case .double(let set): text += Self.decode(bytes.map { $0 | 0x80 }, of: set)
    case .unknown: text += "\u{FFFD}"
    }
  }

  private static func decode(_ bytes: [UInt8], of set: DoubleByteSet) -> String {
    /// Sets that EUC reaches by a prefix before each character.
    func prefixed(_ prefix: [UInt8]) -> [UInt8] {
      stride(from: 0, to: bytes.count, by: 2).flatMap { prefix + bytes[$0..<min($0 + 2, bytes.count)] }
    }
    return switch set {
    case .gb2312: LegacyText.decode(bytes, as: "EUC-CN")
    case .jisX0208: LegacyText.decode(bytes, as: "EUC-JP")
    case .jisX0212: LegacyText.decode(prefixed([0x8F]), as: "EUC-JP")
    case .ksC5601: LegacyText.decode(bytes, as: "EUC-KR")
    case .cns1: LegacyText.decode(bytes, as: "EUC-TW")
    case .cns2: LegacyText.decode(prefixed([0x8E, 0xA2]), as: "EUC-TW")
    }
  }

  // MARK: - Escape sequences

  /// Takes what follows ESC, and returns the rest.
  private mutating func escape(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    // Intermediate bytes, then a final one (ISO 2022 §6.2).
    let middle = bytes.prefix { (0x20...0x2F).contains($0) }
    let rest = bytes.dropFirst(middle.count)
    guard let final = rest.first else { return rest }
    switch Array(middle) {
    case [0x28]: left = Self.single(final)
    case [0x29]: right = Self.single(final)
    case [0x2D]: right = Self.latin(final)
    case [0x24], [0x24, 0x28]: left = DoubleByteSet(rawValue: final).map { .double($0) } ?? .unknown
    case [0x24, 0x29]: right = DoubleByteSet(rawValue: final).map { .double($0) } ?? .unknown
    case [0x25] where final == UInt8(ascii: "G"): return unicode(rest.dropFirst())
    case [0x25, 0x2F]: return segment(rest.dropFirst())
    default: break
    }
    return rest.dropFirst()
  }

  /// Sets of 94 characters.
  private static func single(_ final: UInt8) -> CharacterSet {
    switch final {
    case UInt8(ascii: "B"): .ascii
    case UInt8(ascii: "J"): .japaneseRoman
    case UInt8(ascii: "I"): .katakana
    default: .unknown
    }
  }

  /// Sets of 96 characters: the upper halves of ISO 8859.
  private static func latin(_ final: UInt8) -> CharacterSet {
    let parts: [Character: Int] = [
      "A": 1, "B": 2, "C": 3, "D": 4, "F": 7, "G": 6, "H": 8, "L": 5, "M": 9, "V": 10, "T": 11, "Y": 13, "_": 14,
      "b": 15, "f": 16,
    ]
    return parts[Character(Unicode.Scalar(final))].map { .latin($0) } ?? .unknown
  }

  /// UTF-8 up to `ESC % @`.
  private mutating func unicode(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let inside = bytes.prefix { $0 != 0x1B }
    text += String(decoding: inside, as: UTF8.self)
    return bytes.dropFirst(inside.count)
  }

  /// An extended segment: two bytes of length, the set's name, STX, and text in that set.
  private mutating func segment(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let head = Array(bytes.prefix(2))
    guard head.count == 2, head[0] >= 0x80, head[1] >= 0x80 else { return bytes }
    let content = bytes.dropFirst(2).prefix(Int(head[0] & 0x7F) * 128 + Int(head[1] & 0x7F))
    let name = String(decoding: content.prefix { $0 != 0x02 }, as: UTF8.self).lowercased()
    let inside = Array(content.drop { $0 != 0x02 }.dropFirst())
    text += LegacyText.decode(inside, as: Self.charset(name))
    return bytes.dropFirst(2 + content.count)
  }

  /// As `iconv` calls what X calls `iso8859-15`, `big5-0` or `microsoft-cp1251`.
  private static func charset(_ name: String) -> String {
    if name.hasPrefix("iso8859-") { return "ISO-8859-" + name.dropFirst(8) }
    if name.hasPrefix("microsoft-cp") { return "CP" + name.dropFirst(12) }
    if name.hasPrefix("gb18030") { return "GB18030" }
    return name.hasSuffix("-0") ? String(name.dropLast(2)) : name
  }
}
