/// The checksum of SCTP packets: CRC-32 with Castagnoli's polynomial (RFC 9260 appendix A), eight bytes at a step.
public enum CRC32C {
  /// Table k: the effect of a byte on the sum if k further bytes follow it in the same step.
  private static let tables: InlineArray<2_048, UInt32> = {
    var tables = InlineArray<2_048, UInt32>(repeating: 0)
    for i in 0..<256 {
      var value = UInt32(i)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
      tables[i] = value
    }
    for i in 256..<2_048 { tables[i] = tables[i - 256] >> 8 ^ tables[Int(tables[i - 256] & 0xFF)] }
    return tables
  }()

  /// The checksum of `head`, then `gap` zero bytes, then `tail`: of a packet whose own checksum field counts as zero.
  static func checksum(_ head: Span<UInt8>, zeros gap: Int, _ tail: Span<UInt8>) -> UInt32 {
    var crc = update(0xFFFF_FFFF, head)
    for _ in 0..<gap { crc = tables[Int(crc & 0xFF)] ^ crc >> 8 }
    return ~update(crc, tail)
  }

  /// The checksum of `bytes`.
  public static func checksum(_ bytes: Span<UInt8>) -> UInt32 { ~update(0xFFFF_FFFF, bytes) }

  private static func update(_ start: UInt32, _ bytes: Span<UInt8>) -> UInt32 {
    var crc = start
    var i = 0
    let count = bytes.count
    while count - i >= 8 {
      let low = crc ^ word(bytes, i)
      let high = word(bytes, i + 4)
      crc =
        tables[1_792 + Int(low & 0xFF)] ^ tables[1_536 + Int(low >> 8 & 0xFF)] ^ tables[1_280 + Int(low >> 16 & 0xFF)]
        ^ tables[1_024 + Int(low >> 24)] ^ tables[768 + Int(high & 0xFF)] ^ tables[512 + Int(high >> 8 & 0xFF)]
        ^ tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
      i += 8
    }
    while i < count {
      crc = tables[Int((crc ^ UInt32(bytes[i])) & 0xFF)] ^ crc >> 8
      i += 1
    }
    return crc
  }

  /// Four bytes, the lowest first.
  private static func word(_ bytes: Span<UInt8>, _ at: Int) -> UInt32 {
    UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16 | UInt32(bytes[at + 3]) << 24
  }
}
