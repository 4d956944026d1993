package import RTCMedia
package import RTCPrimitives

/// The hash by which the caster recognizes pixels that a page keeps.
///
/// 64 bits, keyed: each step multiplies 16 bytes with the state and folds the product of 128 bits, as wyhash does. Two
/// given contents have the same hash with a probability near 2⁻⁶⁴, and the key is a secret of the cast, so that shown
/// content cannot be made to collide. The hash never leaves the caster.
package struct PixelHash: Sendable {
  private let key: UInt64

  /// - Parameter key: a random number of this cast.
  package init(key: UInt64) { self.key = key }

  /// The hash of the pixels of `rect`, which lies in `picture`, and of its size; 1 ms for 1920x1080. The
  /// fourth byte of a pixel says nothing.
  /// - Parameter picture: of four bytes for each pixel.
  package func hash(_ rect: PixelRect, of picture: PixelBuffer) -> UInt64 {
    precondition(picture.format.planeCount == 1 && rect.x >= 0 && rect.y >= 0 && rect.width >= 0 && rect.height >= 0)
    precondition(rect.x + rect.width <= picture.size.width && rect.y + rect.height <= picture.size.height)
    let stride = picture.stride(ofPlane: 0)
    // Bytes have no padding.
    let bytes = unsafe picture.bytes(ofPlane: 0).bytes
    var state = mix(key ^ UInt64(rect.width), Self.first ^ UInt64(rect.height))
    for y in rect.y..<rect.y + rect.height {
      let start = y * stride + rect.x * 4
      state = line(bytes.extracting(start..<start + rect.width * 4), state)
    }
    return mix(state ^ Self.second, key)
  }

  private static let first: UInt64 = 0xa076_1d64_78bd_642f
  private static let second: UInt64 = 0xe703_7ed1_a0b4_28db
  /// The bytes of two pixels that count.
  private static let mask = UInt64(littleEndian: 0x00FF_FFFF_00FF_FFFF)

  @inline(__always)
  private func line(_ bytes: borrowing RawSpan, _ before: UInt64) -> UInt64 {
    var (state, offset) = (before, 0)
    let whole = bytes.byteCount & ~15
    while offset < whole {
      // Within `whole`, which is within the line.
      let (a, b) = unsafe (
        bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self),
        bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 8, as: UInt64.self)
      )
      state = mix(a & Self.mask ^ key, b & Self.mask ^ state)
      offset += 16
    }
    while offset < bytes.byteCount {
      // A pixel of four bytes, as the line has whole pixels.
      let pixel = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
      state = mix(UInt64(pixel) & Self.mask ^ key, Self.second ^ state)
      offset += 4
    }
    return state
  }

  @inline(__always)
  private func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
