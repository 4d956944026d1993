package import RTCMedia

/// Finds the blocks in which two pictures differ.
///
/// Damage is not used. It is often too large: a compositor, or a browser that repaints unchanged content, damages much
/// and changes little. And it may be too small: a capturer reads whole rows, and a change in them beside the damage is
/// in the picture before its own damage is reported, after which the two pictures would not differ.
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
    let side = BlockSet.blockSize
    for row in 0..<result.rows {
      let lines = min(side, new.size.height - row * side)
      // The blocks of a row side by side, line by line, as memory is read fastest.
      for first in stride(from: 0, to: result.columns, by: 64) {
        let columns = first..<min(first + 64, result.columns)
        var same: UInt64 = columns.count == 64 ? .max : 1 << UInt64(columns.count) - 1
        // Far apart first: then most of what differs is known after two or three.
        for number in 0..<side {
          let line = number * 5 % side
          guard line < lines, same != 0 else { continue }
          same = remaining(
            same, of: columns, width: new.size.width, a.line(row * side + line), b.line(row * side + line))
        }
        for column in columns where same >> UInt64(column - first) & 1 == 0 { result.insert(column: column, row: row) }
      }
    }
    return result
  }

  /// The blocks in `same`, a bit for each of `columns`, that are equal in this line too.
  private static func remaining(
    _ same: UInt64, of columns: Range<Int>, width: Int, _ a: borrowing RawSpan, _ b: borrowing RawSpan
  ) -> UInt64 {
    var (remaining, left) = (same, same)
    while left != 0 {
      let bit = left.trailingZeroBitCount
      left &= left &- 1
      let x = (columns.lowerBound + bit) * BlockSet.blockSize
      if differs(a, b, x: x, count: min(BlockSet.blockSize, width - x)) { remaining &= ~(1 << UInt64(bit)) }
    }
    return remaining
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

    /// All bytes of a row, including the rest of its stride if there is one.
    @_lifetime(copy self)
    func line(_ y: Int) -> RawSpan { bytes.extracting(y * stride..<min((y + 1) * stride, bytes.byteCount)) }
  }

  /// Whether `count` pixels from `x` on differ; the fourth byte of a pixel says nothing.
  @inline(__always)
  private static func differs(_ a: borrowing RawSpan, _ b: borrowing RawSpan, x: Int, count: Int) -> Bool {
    typealias Pixels = SIMD4<UInt32>
    var difference = Pixels.zero
    precondition(x >= 0 && (x + count) * 4 <= min(a.byteCount, b.byteCount))
    if count == BlockSet.blockSize {
      for offset in stride(from: x * 4, to: x * 4 + 64, by: 16) {
        // Within the 16 pixels of four bytes that both have.
        let (left, right) = unsafe (
          a.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Pixels.self),
          b.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Pixels.self)
        )
        difference |= left ^ right
      }
    } else {
      for offset in stride(from: x * 4, to: (x + count) * 4, by: 4) {
        // Within what both have.
        let (left, right) = unsafe (
          a.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self),
          b.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        )
        difference.x |= left ^ right
      }
    }
    let all = difference.x | difference.y | difference.z | difference.w
    return all & UInt32(littleEndian: 0x00FF_FFFF) != 0
  }
}
