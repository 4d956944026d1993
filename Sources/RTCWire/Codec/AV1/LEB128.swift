public import RTCPrimitives

/// Little-endian base 128, AV1's numbers of variable length (AV1 specification §4.10.5): seven bits a byte, the lowest
/// first, the highest bit set on all but the last.
extension ByteReader {
  /// At most eight bytes; nil (nothing consumed) when the number is cut off, longer, or over 2³² − 1.
  @_lifetime(self: copy self)
  public mutating func readLEB128() -> UInt32? {
    var value: UInt64 = 0
    for index in 0..<min(8, remaining) {
      let byte = bytes[offset + index]
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      guard byte & 0x80 == 0 else { continue }
      guard value <= UInt32.max, skip(index + 1) else { return nil }
      return UInt32(value)
    }
    return nil
  }
}

extension ByteWriter {
  /// In as few bytes as can be.
  @_lifetime(self: copy self)
  public mutating func writeLEB128(_ value: UInt32) {
    var rest = value
    while rest >= 0x80 {
      write(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    write(UInt8(rest))
  }
}
