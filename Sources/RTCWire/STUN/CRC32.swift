/// CRC-32 as in ITU V.42 and zlib, for STUN's FINGERPRINT (RFC 8489 §14.7) and candidate foundations.
package enum CRC32 {
  private static let table: InlineArray<256, UInt32> = {
    var table = InlineArray<256, UInt32>(repeating: 0)
    for i in 0..<256 {
      var value = UInt32(i)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
      table[i] = value
    }
    return table
  }()

  package static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
    let table = Self.table
    var crc: UInt32 = 0xFFFF_FFFF
    for i in bytes.indices { crc = table[Int((crc ^ UInt32(bytes[i])) & 0xFF)] ^ crc >> 8 }
    return ~crc
  }
}
