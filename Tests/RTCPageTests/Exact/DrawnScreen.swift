import RTCMedia
import RTCPage
import RTCPrimitives

/// A screen with panes of text, drawn pixel by pixel.
struct DrawnScreen: Equatable {
  let size: PixelSize
  /// Row by row.
  private(set) var pixels: [UInt32]

  init(_ size: PixelSize = PixelSize(width: 640, height: 400), colour: UInt32 = 0xFF_FFFF) {
    self.size = size
    pixels = Array(repeating: colour, count: size.width * size.height)
  }

  /// A page of text, endless in both directions: lines of 18 pixels, one of five blank.
  struct Text {
    var seed: UInt64
    var lineHeight = 18
    /// Lines that begin again after so many pixels; nil: none is repeated.
    var period: Int?

    func pixel(_ x: Int, _ y: Int) -> UInt32 {
      let y = period.map { ((y % $0) + $0) % $0 } ?? y
      let (line, row) = (Self.floor(y, lineHeight), y - Self.floor(y, lineHeight) * lineHeight)
      guard hash(line, 7) % 5 > 0, row > 2, row < lineHeight - 3 else { return 0xFF_FFFF }
      let (letter, column) = (Self.floor(x, 9), x - Self.floor(x, 9) * 9)
      guard column < 7, hash(line &* 1_000 &+ letter, 3) % 6 > 0 else { return 0xFF_FFFF }
      return hash(line &* 100_000 &+ letter, column * 32 + row) % 2 == 0 ? 0xFF_FFFF : UInt32(hash(line, 1) & 0x7F_7F7F)
    }

    private func hash(_ a: Int, _ b: Int) -> UInt64 {
      var hash = (UInt64(bitPattern: Int64(a)) &* 0x9E37_79B9_7F4A_7C15) ^ seed &* 77
      hash = (hash ^ hash >> 31 ^ UInt64(b)) &* 0xBF58_476D_1CE4_E5B9
      return (hash ^ hash >> 29) >> 8
    }

    private static func floor(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((b - 1 - a) / b) }
  }

  /// Draws a part of the text that begins at `x`, `y` of it.
  mutating func draw(_ text: Text, from x: Int, _ y: Int, in rect: PixelRect) {
    paint(rect) { text.pixel($0 - rect.x + x, $1 - rect.y + y) }
  }

  mutating func fill(_ rect: PixelRect, _ colour: UInt32) { paint(rect) { _, _ in colour } }

  mutating func paint(_ rect: PixelRect, _ colour: (_ x: Int, _ y: Int) -> UInt32) {
    let part = rect.intersection(PixelRect(size))
    for y in part.y..<part.maxY { for x in part.x..<part.maxX { pixels[y * size.width + x] = colour(x, y) } }
  }

  subscript(_ x: Int, _ y: Int) -> UInt32 { pixels[y * size.width + x] }

  /// Its fourth bytes differ from row to row, as they say nothing.
  var buffer: PixelBuffer {
    PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let pixel = self[x, y]
          for byte in 0..<3 { bytes[y * stride + x * 4 + byte] = UInt8(truncatingIfNeeded: pixel >> UInt32(8 * byte)) }
          bytes[y * stride + x * 4 + 3] = UInt8(y & 255)
        }
      }
    }!
  }

  /// The pixels of a rectangle, row by row.
  func pixels(in rect: PixelRect) -> [UInt32] {
    (rect.y..<rect.maxY).flatMap { y in (rect.x..<rect.maxX).map { self[$0, y] } }
  }
}
