package import RTCMedia

/// Finds which blocks of two pictures differ. Damage only says where to look: a compositor, or a browser that paints anew
/// what it has painted before, damages much and changes little.
package enum PictureComparison {
  /// The blocks that differ, of those that `damage` touches (nil: of all). Without an old picture of the same kind, those
  /// that it touches.
  package static func changes(
    from old: PixelBuffer?, to new: PixelBuffer, within damage: [PixelRect]?
  ) -> BlockSet {
    var candidates = BlockSet(new.size)
    if let damage { for rect in damage { candidates.insert(rect) } } else { candidates.insertAll() }
    guard let old else {
      candidates.insertAll()
      return candidates
    }
    guard old.size == new.size, old.format == new.format, new.format.planeCount == 1 else {
      candidates.insertAll()
      return candidates
    }
    return differing(candidates, old, new)
  }

  private static func differing(_ candidates: BlockSet, _ old: PixelBuffer, _ new: PixelBuffer) -> BlockSet {
    var result = BlockSet(new.size)
    let (a, b) = (old.bytes(ofPlane: 0), new.bytes(ofPlane: 0))
    let (strideA, strideB) = (old.stride(ofPlane: 0), new.stride(ofPlane: 0))
    let side = BlockSet.blockSize
    for row in 0..<candidates.rows {
      for y in row * side..<min(new.size.height, (row + 1) * side) {
        for column in 0..<candidates.columns
        where candidates.contains(column: column, row: row) && !result.contains(column: column, row: row) {
          let bytes = (min(new.size.width, (column + 1) * side) - column * side) * 4
          let (x, left) = (y * strideA + column * side * 4, y * strideB + column * side * 4)
          if differs(a.extracting(x..<x + bytes), b.extracting(left..<left + bytes)) {
            result.insert(column: column, row: row)
          }
        }
      }
    }
    return result
  }

  /// Four bytes a pixel, of which the fourth says nothing.
  private static func differs(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
    // Bytes have no padding.
    let (a, b) = unsafe (a.bytes, b.bytes)
    var difference: UInt32 = 0
    var offset = 0
    while offset + 4 <= min(a.byteCount, b.byteCount) {
      // Four bytes from `offset` are in both, by the condition.
      let x = unsafe a.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
      let y = unsafe b.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
      difference |= x ^ y
      offset += 4
    }
    return UInt32(littleEndian: difference) & 0x00FF_FFFF != 0
  }
}
