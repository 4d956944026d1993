internal import RTCMedia

extension PixelBuffer {
  /// The picture with left and right exchanged, in memory of its own.
  func mirrored() -> PixelBuffer? {
    PixelBuffer.allocate(format: format, size: size) { index, target, targetStride in
      let (source, stride) = (bytes(ofPlane: index), stride(ofPlane: index))
      let extent = format.planeExtent(index, of: size)
      let pixelBytes = format.planeCount == 1 ? 4 : format == .nv12 && index == 1 ? 2 : 1
      for row in 0..<extent.rows {
        let end = row * targetStride + extent.rowBytes - pixelBytes
        for place in Swift.stride(from: 0, to: extent.rowBytes, by: pixelBytes) {
          for byte in 0..<pixelBytes { target[end - place + byte] = source[row * stride + place + byte] }
        }
      }
    }
  }

  /// One picture of two that were taken one after the other and woven row by row: where a sample of the second stands out
  /// from those above and below, which are of the first, it is made anew from these. What rests keeps all its rows. Nil for
  /// packed pixels.
  /// - Parameter keepsEven: the first picture has the rows 0, 2, 4 …
  func deinterlaced(keepsEven: Bool) -> PixelBuffer? {
    guard format.planeCount > 1 else { return nil }
    return PixelBuffer.allocate(format: format, size: size) { index, target, targetStride in
      let (source, stride) = (bytes(ofPlane: index), stride(ofPlane: index))
      let extent = format.planeExtent(index, of: size)
      for row in 0..<extent.rows {
        let (from, to) = (row * stride, row * targetStride)
        let isKept = (row % 2 == 0) == keepsEven || row == 0 || row == extent.rows - 1
        for place in 0..<extent.rowBytes {
          let own = Int(source[from + place])
          guard !isKept else {
            target[to + place] = UInt8(truncatingIfNeeded: own)
            continue
          }
          let (above, below) = (Int(source[from - stride + place]), Int(source[from + stride + place]))
          let standsOut = (own - above) * (own - below) > Self.woven
          target[to + place] = UInt8(truncatingIfNeeded: standsOut ? (above + below + 1) / 2 : own)
        }
      }
    }
  }

  /// How far a sample stands out from its neighbours, as the product of both differences, before it is taken for another
  /// picture's.
  private static var woven: Int { 64 }
}
