import RTCCapture
import RTCMedia

/// Pictures that are put together from those of a stream: turned, or with the pointer drawn in, or because the stream needs
/// its buffers back.
struct StreamPainter {
  private var canvases: CanvasPool

  init(size: PixelSize) { canvases = CanvasPool(size: size) }

  var size: PixelSize { canvases.size }

  mutating func noteChange(_ rect: PixelRect) { canvases.noteChange(rect) }

  /// The present picture, leased; nil while the consumer holds all of them.
  /// - Parameters:
  ///   - crop: the part of `picture` that is shown, which is `size` large.
  ///   - pointer: its image, and the place of its upper left corner.
  mutating func draw(
    _ picture: PackedPicture, crop: PixelRect, pointer: (image: CursorImage, x: Int, y: Int)?,
    onRelease: @escaping @Sendable () -> Void
  ) -> PixelBuffer? {
    guard let canvas = canvases.free() else { return nil }
    canvas.pointer.remove(from: canvas.pixels, of: size)
    for stale in canvas.stale.clipped(to: PixelRect(size)).rects {
      let source = PixelRect(x: stale.x + crop.x, y: stale.y + crop.y, width: stale.width, height: stale.height)
      picture.copy(source, to: canvas.pixels, of: size, x: stale.x, y: stale.y)
    }
    canvas.stale.removeAll()
    if let pointer { canvas.pointer.draw(pointer.image, x: pointer.x, y: pointer.y, into: canvas.pixels, of: size) }
    return canvas.memory.lease(onRelease: onRelease)
  }
}
