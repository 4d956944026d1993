/// Validates UTF-8 (RFC 3629) incrementally: a message of many frames is refused at its first wrong byte, wherever its
/// frames are split.
struct UTF8Progress {
  /// Bytes of the last character that are still to come.
  private var missing = 0
  /// The allowed values of the next byte: narrower where the character would be overlong, a surrogate, or beyond
  /// U+10FFFF.
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF

  /// No character is cut off.
  var isComplete: Bool { missing == 0 }

  /// False if the bytes cannot follow those before.
  mutating func take(_ bytes: some Sequence<UInt8>) -> Bool {
    for byte in bytes {
      if missing > 0 {
        guard allowed.contains(byte) else { return false }
        missing -= 1
        allowed = 0x80...0xBF
      } else if byte >= 0x80 {
        guard begin(byte) else { return false }
      }
    }
    return true
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: missing = 1
    case 0xE0...0xEF: missing = 2
    case 0xF0...0xF4: missing = 3
    default: return false
    }
    switch byte {
    case 0xE0: allowed = 0xA0...0xBF
    case 0xED: allowed = 0x80...0x9F
    case 0xF0: allowed = 0x90...0xBF
    case 0xF4: allowed = 0x80...0x8F
    default: break
    }
    return true
  }
}
