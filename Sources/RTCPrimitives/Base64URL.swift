/// The URL-safe alphabet of base64, without padding (RFC 4648 §5).
package enum Base64URL {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Without padding.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...group.count { text.append(letters[bits >> (18 - 6 * place) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The usual alphabet with its padding (RFC 4648 §4).
  package static func padded(_ bytes: [UInt8]) -> String {
    let text = encode(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
  }

  /// Nil for characters of another alphabet and for lengths that nothing encodes to.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for letter in text.utf8 {
      guard let value = value(letter) else { return nil }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(bits >> count & 255))
      bits &= (1 << count) - 1
    }
    return bytes
  }

  /// Whether a byte belongs to the alphabet.
  package static func isLetter(_ byte: UInt8) -> Bool { value(byte) != nil }

  private static func value(_ letter: UInt8) -> Int? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(letter) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(letter) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(letter) - 48 + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
