package import RTCMedia

/// A picture of four bytes a pixel in memory of others, which may lie there turned or mirrored.
@unsafe
package struct PackedPicture {
  package let base: UnsafeRawPointer
  /// The bytes from one row of the buffer to the next.
  package let stride: Int
  /// The size of the buffer.
  package let size: PixelSize
  /// `.bgra` or `.rgba`.
  package let format: PixelFormat
  package let orientation: PixelOrientation

  /// - Parameter base: `size.height` rows of `stride` bytes, of which the last may end with its pixels.
  package init(
    base: UnsafeRawPointer, stride: Int, size: PixelSize, format: PixelFormat,
    orientation: PixelOrientation
  ) {
    unsafe (self.base, self.stride, self.size) = (base, stride, size)
    unsafe (self.format, self.orientation) = (format, orientation)
  }

  /// Copies a part of the upright picture, as BGRA.
  /// - Parameters:
  ///   - rect: inside the upright picture.
  ///   - target: a picture without gaps that is `targetSize` large.
  ///   - x: the place in the target, where the part fits.
  ///   - y: likewise.
  package func copy(
    _ rect: PixelRect, to target: UnsafeMutablePointer<UInt32>, of targetSize: PixelSize, x: Int, y: Int
  ) {
    precondition(rect.intersection(PixelRect(unsafe orientation.uprightSize(of: size))) == rect)
    let placed = PixelRect(x: x, y: y, width: rect.width, height: rect.height)
    precondition(placed.intersection(PixelRect(targetSize)) == placed)
    for line in 0..<rect.height {
      let row = unsafe target + (y + line) * targetSize.width + x
      if unsafe orientation.swapsAxes || orientation.flipsX {
        for column in 0..<rect.width {
          unsafe row[column] = pixel(x: rect.x + column, y: rect.y + line).pointee
        }
      } else {
        unsafe row.update(from: pixel(x: rect.x, y: rect.y + line), count: rect.width)
      }
      if unsafe format == .rgba {
        for column in 0..<rect.width { unsafe row[column] = Self.swapped(row[column]) }
      }
    }
  }

  /// A pixel of the upright picture, and those behind it in its row of the buffer.
  private func pixel(x: Int, y: Int) -> UnsafePointer<UInt32> {
    let place = unsafe orientation.buffered(x: x, y: y, in: size)
    return unsafe (base + place.y * stride + place.x * 4).assumingMemoryBound(to: UInt32.self)
  }

  /// Red and blue exchanged.
  private static func swapped(_ pixel: UInt32) -> UInt32 {
    pixel & 0xff00_ff00 | pixel >> 16 & 0xff | (pixel & 0xff) << 16
  }
}
