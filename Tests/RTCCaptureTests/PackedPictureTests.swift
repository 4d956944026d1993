import RTCCapture
import RTCMedia
import Testing

@Suite struct PackedPictureTests {
  private static let size = PixelSize(width: 5, height: 3)
  private static let orientations = (0..<8).map { PixelOrientation(transform: $0) }

  /// A buffer in which each pixel is another one, with rows that end with a gap.
  private static let stride = 8
  private static let buffer = (0..<stride * size.height).map { 0xff00_0000 | UInt32($0) * 0x010307 }

  /// The part of the upright picture, with nothing around it.
  private func copied(
    _ rect: PixelRect, _ orientation: PixelOrientation, format: PixelFormat = .bgra
  ) -> [UInt32] {
    var target = [UInt32](repeating: 0, count: rect.width * rect.height)
    Self.buffer.withUnsafeBytes { bytes in
      let picture = PackedPicture(
        base: bytes.baseAddress!, stride: Self.stride * 4, size: Self.size, format: format, orientation: orientation)
      target.withUnsafeMutableBufferPointer {
        picture.copy(
          rect, to: $0.baseAddress!, of: PixelSize(width: rect.width, height: rect.height), x: 0, y: 0)
      }
    }
    return target
  }

  @Test(arguments: orientations)
  func `each pixel of the upright picture comes from its place`(orientation: PixelOrientation) {
    let upright = orientation.uprightSize(of: Self.size)
    let picture = copied(PixelRect(upright), orientation)
    for y in 0..<upright.height {
      for x in 0..<upright.width {
        let place = orientation.buffered(x: x, y: y, in: Self.size)
        #expect(picture[y * upright.width + x] == Self.buffer[place.y * Self.stride + place.x])
      }
    }
    #expect(Set(picture).count == picture.count)
  }

  @Test(arguments: orientations)
  func `a part is the same part of the whole`(orientation: PixelOrientation) {
    let upright = orientation.uprightSize(of: Self.size)
    let whole = copied(PixelRect(upright), orientation)
    let rect = PixelRect(x: 1, y: 1, width: upright.width - 2, height: upright.height - 1)
    let part = copied(rect, orientation)
    for y in 0..<rect.height {
      for x in 0..<rect.width { #expect(part[y * rect.width + x] == whole[(y + 1) * upright.width + x + 1]) }
    }
  }

  @Test(arguments: orientations)
  func `changes of the buffer are where their pixels are shown`(orientation: PixelOrientation) {
    let change = PixelRect(x: 1, y: 0, width: 3, height: 2)
    let shown = orientation.upright(change, in: Self.size)
    var places: Set<[Int]> = []
    for y in shown.y..<shown.maxY {
      for x in shown.x..<shown.maxX {
        let place = orientation.buffered(x: x, y: y, in: Self.size)
        places.insert([place.x, place.y])
      }
    }
    #expect(places == Set((0..<6).map { [1 + $0 % 3, $0 / 3] }))
  }

  @Test func `an upside-down buffer begins with the last row`() {
    let picture = copied(PixelRect(Self.size), PixelOrientation.upright.upsideDown())
    for y in 0..<Self.size.height {
      let row = picture[y * Self.size.width..<(y + 1) * Self.size.width]
      let start = (Self.size.height - 1 - y) * Self.stride
      #expect(Array(row) == Array(Self.buffer[start..<start + Self.size.width]))
    }
  }

  @Test func `red and blue of RGBA change places`() {
    let pixel = copied(PixelRect(x: 4, y: 2, width: 1, height: 1), .upright, format: .rgba)[0]
    let original = Self.buffer[2 * Self.stride + 4]
    #expect(pixel == original & 0xff00_ff00 | original >> 16 & 0xff | (original & 0xff) << 16)
  }
}
