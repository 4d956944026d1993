import RTCMedia
import RTCPrimitives

/// How much of a picture changed lately, in 8 × 8 cells: a new page is often drawn in several steps, each of which is
/// captured for itself.
struct ChangeCoverage {
  /// Steps closer to each other than this are of one change.
  private static let window = TimeDelta.milliseconds(300)
  /// The number of changed cells, of 64, at which a key frame costs about as much as any other frame.
  private static let broad = 54

  private var cells: UInt64 = 0
  private var start = Timestamp.zero

  /// Adds the changed rectangles; nil = the whole picture.
  /// - Returns: true if nearly the whole picture has changed. The count then starts again.
  mutating func isBroad(adding rects: [PixelRect]?, of size: PixelSize, now: Timestamp) -> Bool {
    if now - start > Self.window { (cells, start) = (0, now) }
    for rect in rects ?? [PixelRect(size)] { add(rect, of: size) }
    guard cells.nonzeroBitCount >= Self.broad else { return false }
    cells = 0
    return true
  }

  /// Marks the cells whose middle lies in `rect`.
  private mutating func add(_ rect: PixelRect, of size: PixelSize) {
    func cells(from first: Int, to end: Int, of length: Int) -> Range<Int> {
      // The middle of cell n is at (2n + 1) / 16 of the length.
      func firstCell(at position: Int) -> Int { min(8, max(0, (16 * position + length - 1) / length) / 2) }
      let low = firstCell(at: first)
      return low..<max(low, firstCell(at: end))
    }
    guard size.width > 0, size.height > 0 else { return }
    let columns = cells(from: rect.x, to: rect.maxX, of: size.width)
    for row in cells(from: rect.y, to: rect.maxY, of: size.height) {
      for column in columns { self.cells |= 1 << UInt64(row * 8 + column) }
    }
  }
}
