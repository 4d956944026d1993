public import RTCMedia

/// Memory to draw a BGRA picture into, one `UInt32` (0xXXRRGGBB, little endian) a pixel, rows without gaps. Nothing is
/// drawn outside `clip`.
public struct PixelCanvas: ~Copyable, ~Escapable {
  /// Size in pixels.
  public let size: PixelSize
  /// The region in which drawing has an effect; always inside the picture.
  public private(set) var clip: PixelRect
  private var pixels: MutableSpan<UInt32>

  /// `pixels` holds exactly `size.width * size.height` values.
  @_lifetime(copy pixels)
  public init(size: PixelSize, pixels: consuming MutableSpan<UInt32>) {
    precondition(pixels.count == size.width * size.height, "The memory does not fit the picture's size.")
    self.size = size
    self.clip = PixelRect(size)
    self.pixels = pixels
  }

  /// Drawing changes nothing outside `rect` from now on.
  @_lifetime(self: copy self)
  public mutating func setClip(_ rect: PixelRect) { clip = rect.intersection(PixelRect(size)) }

  /// Fills the part of `rect` within the clip with one colour, 0xXXRRGGBB.
  @_lifetime(self: copy self)
  public mutating func fill(_ rect: PixelRect, _ color: UInt32) {
    let rect = rect.intersection(clip)
    guard !rect.isEmpty else { return }
    for y in rect.y..<rect.maxY {
      let row = y * size.width
      for x in rect.x..<rect.maxX { pixels[row + x] = color }
    }
  }

  /// Each pixel of the clip gets what `shade` says of its place, row by row from the left.
  @_lifetime(self: copy self)
  public mutating func shade(_ rect: PixelRect, _ shade: (_ x: Int, _ y: Int) -> UInt32?) {
    let rect = rect.intersection(clip)
    guard !rect.isEmpty else { return }
    for y in rect.y..<rect.maxY {
      let row = y * size.width
      for x in rect.x..<rect.maxX {
        if let color = shade(x, y) { pixels[row + x] = color }
      }
    }
  }

  /// A line of letters, its top left corner at `x`, `y`; `scale` pixels for each dot of the 6x8 cells.
  @_lifetime(self: copy self)
  public mutating func text(_ text: String, x: Int, y: Int, scale: Int, color: UInt32) {
    var left = x
    for letter in text.utf8 {
      let cell = PixelRect(x: left, y: y, width: 6 * scale, height: 8 * scale)
      if !cell.intersection(clip).isEmpty { glyph(BitmapFont.rows(of: letter), in: cell, scale: scale, color: color) }
      left += 6 * scale
    }
  }

  @_lifetime(self: copy self)
  private mutating func glyph(_ rows: UInt64, in cell: PixelRect, scale: Int, color: UInt32) {
    for row in 0..<8 {
      for column in 0..<5 where rows >> UInt64((7 - row) * 8 + 4 - column) & 1 == 1 {
        fill(
          PixelRect(x: cell.x + column * scale, y: cell.y + row * scale, width: scale, height: scale), color)
      }
    }
  }
}
