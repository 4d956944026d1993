import Glibc

/// Text in character sets older than Unicode.
enum LegacyText {
  /// ISO 8859-1: every byte is the character of its number.
  static func latin1(_ bytes: some Sequence<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// By the C library's converters. What is no character of the set, and all text of a set that the library does not
  /// know, becomes U+FFFD.
  /// - Parameter charset: as `iconv` names it, such as `EUC-JP`.
  static func decode(_ bytes: [UInt8], as charset: String) -> String {
    guard !bytes.isEmpty else { return "" }
    guard let converter = iconv_open("UTF-8", charset), Int(bitPattern: converter) != -1 else { return "\u{FFFD}" }
    defer { iconv_close(converter) }
    var text = ""
    var rest = bytes[...]
    while !rest.isEmpty {
      let (converted, taken) = convert(rest, converter)
      text += String(decoding: converted, as: UTF8.self)
      rest = rest.dropFirst(taken)
      guard !rest.isEmpty else { break }
      // A byte that begins no character.
      text += "\u{FFFD}"
      rest = rest.dropFirst()
    }
    return text
  }

  /// Converts `bytes` up to the end or the first byte that cannot be converted. Also returns the number of bytes
  /// converted.
  private static func convert(_ bytes: ArraySlice<UInt8>, _ converter: iconv_t) -> ([UInt8], taken: Int) {
    var input = bytes.map { CChar(bitPattern: $0) }
    // No character of one byte has more than four in UTF-8.
    var output = [CChar](repeating: 0, count: bytes.count * 4 + 16)
    return input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, to) = (input.baseAddress, output.baseAddress)
        var (left, room) = (input.count, output.count)
        _ = iconv(converter, &from, &left, &to, &room)
        return (output.prefix(output.count - room).map { UInt8(bitPattern: $0) }, input.count - left)
      }
    }
  }
}
