/// The rows of a picture of one plane, four bytes for each pixel. The fourth byte of a pixel says nothing.
struct PixelRows: ~Escapable {
  private let bytes: RawSpan
  private let stride: Int

  /// - Parameter bytes: of the picture, from its first row to the end of its last.
  @_lifetime(copy bytes)
  init(bytes: RawSpan, stride: Int) {
    self.bytes = bytes
    self.stride = stride
  }

  /// All bytes of a row, including the rest of its stride if there is one.
  @_lifetime(copy self)
  func line(_ y: Int) -> RawSpan { bytes.extracting(y * stride..<min((y + 1) * stride, bytes.byteCount)) }

  /// The bytes of `count` pixels from `x` on.
  @_lifetime(copy self)
  func line(_ y: Int, from x: Int, count: Int) -> RawSpan {
    bytes.extracting(y * stride + x * 4..<y * stride + (x + count) * 4)
  }

  /// The bits of a pixel that count.
  static let mask = UInt32(littleEndian: 0x00FF_FFFF)

  /// Whether `count` pixels differ: of `a` from `x` on, and of `b` from `other` on.
  @inline(__always)
  static func differ(_ a: borrowing RawSpan, at x: Int, _ b: borrowing RawSpan, at other: Int, count: Int) -> Bool {
    typealias Pixels = SIMD4<UInt32>
    precondition(x >= 0 && other >= 0 && count >= 0)
    precondition((x + count) * 4 <= a.byteCount && (other + count) * 4 <= b.byteCount)
    var many = SIMD16<UInt32>.zero
    var offset = 0
    while offset + 64 <= count * 4 {
      // Within the `count` pixels of four bytes that both have.
      let (left, right) = unsafe (
        a.unsafeLoadUnaligned(fromUncheckedByteOffset: x * 4 + offset, as: SIMD16<UInt32>.self),
        b.unsafeLoadUnaligned(fromUncheckedByteOffset: other * 4 + offset, as: SIMD16<UInt32>.self)
      )
      many |= left ^ right
      offset += 64
    }
    var difference = (many.lowHalf | many.highHalf).lowHalf | (many.lowHalf | many.highHalf).highHalf
    while offset + 16 <= count * 4 {
      // Within what both have.
      let (left, right) = unsafe (
        a.unsafeLoadUnaligned(fromUncheckedByteOffset: x * 4 + offset, as: Pixels.self),
        b.unsafeLoadUnaligned(fromUncheckedByteOffset: other * 4 + offset, as: Pixels.self)
      )
      difference |= left ^ right
      offset += 16
    }
    while offset < count * 4 {
      // Within what both have.
      let (left, right) = unsafe (
        a.unsafeLoadUnaligned(fromUncheckedByteOffset: x * 4 + offset, as: UInt32.self),
        b.unsafeLoadUnaligned(fromUncheckedByteOffset: other * 4 + offset, as: UInt32.self)
      )
      difference.x |= left ^ right
      offset += 4
    }
    return (difference.x | difference.y | difference.z | difference.w) & mask != 0
  }
}
