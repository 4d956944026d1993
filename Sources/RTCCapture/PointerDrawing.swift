package import RTCMedia

/// The pointer that is drawn into a picture of BGRA without gaps, and the pixels under it.
package struct PointerDrawing {
  private var beneath: (rect: PixelRect, pixels: [UInt32])?

  /// Nothing is drawn yet.
  package init() {}

  /// Restores the pixels under the pointer.
  /// - Parameter picture: the one that it was drawn into.
  @unsafe
  package mutating func remove(from picture: UnsafeMutablePointer<UInt32>, of size: PixelSize) {
    guard let (rect, pixels) = beneath else { return }
    beneath = nil
    for y in 0..<rect.height {
      unsafe pixels.withUnsafeBufferPointer {
        unsafe (picture + (rect.y + y) * size.width + rect.x).update(
          from: $0.baseAddress! + y * rect.width, count: rect.width)
      }
    }
  }

  /// Draws `image` with its top left corner at `x`, `y`, the part inside the picture, and keeps what was there.
  @unsafe
  package mutating func draw(
    _ image: CursorImage, x: Int, y: Int, into picture: UnsafeMutablePointer<UInt32>, of size: PixelSize
  ) {
    let rect = PixelRect(x: x, y: y, width: image.size.width, height: image.size.height).intersection(PixelRect(size))
    guard !rect.isEmpty else { return }
    var pixels: [UInt32] = []
    pixels.reserveCapacity(rect.area)
    for line in rect.y..<rect.maxY {
      let target = unsafe picture + line * size.width + rect.x
      unsafe pixels.append(contentsOf: UnsafeBufferPointer(start: target, count: rect.width))
      let source = (line - y) * image.size.width + rect.x - x
      for column in 0..<rect.width {
        unsafe target[column] = Self.blend(image.pixels[source + column], over: target[column])
      }
    }
    beneath = (rect, pixels)
  }

  /// `source` is 0xAARRGGBB with its colours multiplied by alpha already.
  private static func blend(_ source: UInt32, over target: UInt32) -> UInt32 {
    let rest = 255 - (source >> 24)
    if rest == 0 { return source }
    if rest == 255 { return target }
    func channel(_ shift: UInt32) -> UInt32 {
      min(255, (source >> shift & 255) + ((target >> shift & 255) * rest + 127) / 255) << shift
    }
    return channel(16) | channel(8) | channel(0)
  }
}
