extension Span where Element == UInt8 {
  /// Two bytes from `offset` in network order. Traps past the end: callers have checked the length.
  func networkOrder16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

  /// Three bytes from `offset` in network order, in the low bits.
  func networkOrder24(at offset: Int) -> UInt32 {
    UInt32(self[offset]) << 16 | UInt32(networkOrder16(at: offset + 1))
  }

  /// Four bytes from `offset` in network order.
  func networkOrder32(at offset: Int) -> UInt32 {
    UInt32(networkOrder16(at: offset)) << 16 | UInt32(networkOrder16(at: offset + 2))
  }

  /// Eight bytes from `offset` in network order.
  func networkOrder64(at offset: Int) -> UInt64 {
    UInt64(networkOrder32(at: offset)) << 32 | UInt64(networkOrder32(at: offset + 4))
  }
}
