package import RTCMedia
import RTCPrimitives

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
    // Bytes have no padding.
    let before = unsafe PixelRows(bytes: old.bytes(ofPlane: 0).bytes, stride: old.stride(ofPlane: 0))
    let after = unsafe PixelRows(bytes: new.bytes(ofPlane: 0).bytes, stride: new.stride(ofPlane: 0))
    var changed = BlockSet.all(of: new.size)
    changed.subtract(equalBlocks(of: new.size, in: changed.whole, before, after))
    return changed
  }

  /// The blocks of `bounds` in which the new picture has what was in the old one `dx`, `dy` pixels before.
  static func equalBlocks(
    of size: PixelSize, in bounds: BlockRect, dx: Int = 0, dy: Int = 0, _ old: borrowing PixelRows,
    _ new: borrowing PixelRows
  ) -> BlockSet {
    var result = BlockSet(size)
    let side = BlockSet.blockSize
    for row in bounds.row..<bounds.endRow {
      let lines = min(side, size.height - row * side)
      guard row * side >= dy, row * side + lines - dy <= size.height else { continue }
      // The blocks of a row side by side, line by line, as memory is read fastest.
      for first in stride(from: bounds.column, to: bounds.endColumn, by: 64) {
        let columns = first..<min(first + 64, bounds.endColumn)
        var same: UInt64 = columns.count == 64 ? .max : 1 << UInt64(columns.count) - 1
        for column in columns
        where column * side < dx || min((column + 1) * side, size.width) - dx > size.width {
          same &= ~(1 << UInt64(column - first))
        }
        // Far apart first: then most of what differs is known after two or three.
        for number in 0..<side {
          let line = number * 5 % side
          guard line < lines, same != 0 else { continue }
          same = remaining(
            same, of: columns, width: size.width, new.line(row * side + line), old.line(row * side + line - dy), dx)
        }
        for column in columns where same >> UInt64(column - first) & 1 == 1 { result.insert(column: column, row: row) }
      }
    }
    return result
  }

  /// The blocks in `same`, a bit for each of `columns`, that are equal in this line too.
  private static func remaining(
    _ same: UInt64, of columns: Range<Int>, width: Int, _ a: borrowing RawSpan, _ b: borrowing RawSpan, _ dx: Int
  ) -> UInt64 {
    let side = BlockSet.blockSize
    var (remaining, left) = (same, same)
    while left != 0 {
      // Blocks beside each other at once, as most lines of them are equal.
      let first = left.trailingZeroBitCount
      let count = (~(left >> UInt64(first))).trailingZeroBitCount
      let run: UInt64 = (count == 64 ? .max : 1 << UInt64(count) - 1) << UInt64(first)
      left &= ~run
      let x = (columns.lowerBound + first) * side
      let pixels = min(width - x, count * side)
      if PixelRows.differ(a, at: x, b, at: x - dx, count: pixels) {
        remaining &= ~run | equal(in: first..<first + count, of: columns, width: width, a, b, dx)
      }
    }
    return remaining
  }

  /// The blocks, a bit for each of `columns`, that are equal in this line.
  private static func equal(
    in bits: Range<Int>, of columns: Range<Int>, width: Int, _ a: borrowing RawSpan, _ b: borrowing RawSpan, _ dx: Int
  ) -> UInt64 {
    var equal: UInt64 = 0
    let side = BlockSet.blockSize
    for bit in bits {
      let x = (columns.lowerBound + bit) * side
      // A constant count is faster.
      let differs =
        width - x >= side
        ? PixelRows.differ(a, at: x, b, at: x - dx, count: side)
        : PixelRows.differ(a, at: x, b, at: x - dx, count: width - x)
      if !differs { equal |= 1 << UInt64(bit) }
    }
    return equal
  }
}
