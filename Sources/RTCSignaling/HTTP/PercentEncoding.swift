/// Percent-encoding of URL parts (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Encodes everything but unreserved characters.
  package static func encode(_ text: String) -> String {
    var out: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: out.append(byte)
      default: out += [37, hexDigit(byte >> 4), hexDigit(byte & 15)]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Nil for a broken escape or for bytes that are not UTF-8.
  package static func decode(_ text: some StringProtocol) -> String? {
    var out: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == 37 else {
        out.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else { return nil }
      out.append(high << 4 | low)
    }
    return String(validating: out, as: UTF8.self)
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }
}
