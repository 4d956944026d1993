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
    var input = bytes.map { CChar(bitPattern: $0) }
    // No character of one byte has more than four in UTF-8, and U+FFFD has three.
    var output = [UInt8](repeating: 0, count: bytes.count * 4 + 16)
    let length = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBytes { output in convert(input, converter, into: output) }
    }
    return String(decoding: output.prefix(length), as: UTF8.self)
  }

  /// Each byte of the input is converted once, however many begin no character.
  /// - Parameter output: at least four bytes for each of the input.
  /// - Returns: the number of bytes written.
  private static func convert(
    _ input: UnsafeMutableBufferPointer<CChar>, _ converter: iconv_t, into output: UnsafeMutableRawBufferPointer
  ) -> Int {
    var from = input.baseAddress
    var to = output.baseAddress?.assumingMemoryBound(to: CChar.self)
    var (left, room) = (input.count, output.count)
    while left > 0 {
      _ = iconv(converter, &from, &left, &to, &room)
      guard left > 0, room >= 3 else { break }
      for byte in "\u{FFFD}".utf8 {
        to?.pointee = CChar(bitPattern: byte)
        to = to?.advanced(by: 1)
      }
      room -= 3
      from = from?.advanced(by: 1)
      left -= 1
    }
    return output.count - room
  }
}
