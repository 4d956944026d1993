package import RTCMedia

/// Finds which blocks of two pictures differ.
///
/// Damage is not asked. It is often too much: a compositor, or a browser that paints anew what it has painted before, damages much
/// and changes little. And it may be too little: a capturer reads whole rows, and what changed in them beside the damage is in
/// the picture before its own damage is told, after which the two pictures would not differ.
package enum PictureComparison {
  /// The blocks that differ; all without an old picture of the same kind.
  package static func changes(from old: PixelBuffer?, to new: PixelBuffer) -> BlockSet {
    guard let old, old.size == new.size, old.format == new.format, new.format.planeCount == 1 else {
      return .all(of: new.size)
    }
    return differing(old, new)
  }

  private static func differing(_ old: PixelBuffer, _ new: PixelBuffer) -> BlockSet {
    var result = BlockSet(new.size)
    // Bytes have no padding.
    let a = unsafe Rows(bytes: old.bytes(ofPlane: 0).bytes, stride: old.stride(ofPlane: 0))
    let b = unsafe Rows(bytes: new.bytes(ofPlane: 0).bytes, stride: new.stride(ofPlane: 0))
    for row in 0..<result.rows {
      for column in 0..<result.columns {
        let rect = BlockRect(column: column, row: row, width: 1, height: 1).pixels(in: new.size)
        if differs(rect, a, b) { result.insert(column: column, row: row) }
      }
    }
    return result
  }

  /// Rows of pixels, four bytes each.
  private struct Rows: ~Escapable {
    let bytes: RawSpan
    let stride: Int

    @_lifetime(copy bytes)
    init(bytes: RawSpan, stride: Int) {
      self.bytes = bytes
      self.stride = stride
    }

    /// The pixels of a row of `rect`.
    @_lifetime(copy self)
    func row(_ y: Int, of rect: PixelRect) -> RawSpan {
      let first = y * stride + rect.x * 4
      return bytes.extracting(first..<first + rect.width * 4)
    }
  }

  /// The fourth byte of a pixel says nothing.
  private static func differs(_ rect: PixelRect, _ a: borrowing Rows, _ b: borrowing Rows) -> Bool {
    typealias Block = SIMD16<UInt32>
    var difference = Block.zero
    for y in rect.y..<rect.maxY {
      let (x, z) = (a.row(y, of: rect), b.row(y, of: rect))
      if rect.width == BlockSet.blockSize {
        // Both are of 16 pixels of four bytes.
        let (left, right) = unsafe (
          x.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: Block.self),
          z.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: Block.self)
        )
        difference |= left ^ right
      } else {
        for offset in stride(from: 0, to: rect.width * 4, by: 4) {
          // Both are as long as the rectangle is wide.
          let (left, right) = unsafe (
            x.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self),
            z.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
          )
          difference[0] |= left ^ right
        }
      }
    }
    return difference & Block(repeating: UInt32(littleEndian: 0x00FF_FFFF)) != .zero
  }
}
