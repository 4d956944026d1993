package import RTCMedia

/// A picture that a capturer draws again and again: its memory, and the parts that have changed since it was drawn.
package final class Canvas {
  /// The pixels, BGRA; leased to the consumer while it holds the picture.
  package let memory: PictureMemory
  /// The parts that have changed since it was drawn.
  package var stale: DamageList
  /// The pointer in it, which is removed before the next is drawn.
  package var pointer = PointerDrawing()

  /// The pixels without gaps; written while `memory` is not leased, by the owner's thread.
  @unsafe
  package var pixels: UnsafeMutablePointer<UInt32> {
    // BGRA has four bytes a pixel, and the memory is never empty.
    unsafe memory.bytes.baseAddress!.assumingMemoryBound(to: UInt32.self)
  }

  fileprivate init(_ size: PixelSize) {
    memory = PictureMemory(format: .bgra, size: size)
    stale = DamageList([PixelRect(size)])
  }
}

/// The canvases of one size, at most four: as many as a consumer may hold at once.
package struct CanvasPool {
  private static let most = 4

  /// The size of each canvas, in pixels.
  package let size: PixelSize
  private var canvases: [Canvas] = []

  package init(size: PixelSize) { self.size = size }

  /// A part of the picture has changed: every canvas needs it drawn again.
  package mutating func noteChange(_ rect: PixelRect) { for canvas in canvases { canvas.stale.insert(rect) } }

  /// A canvas that nobody holds; nil while the consumer holds all of them.
  package mutating func free() -> Canvas? {
    if let free = canvases.first(where: { !$0.memory.isLeased }) { return free }
    guard canvases.count < Self.most else { return nil }
    let canvas = Canvas(size)
    canvases.append(canvas)
    return canvas
  }
}
