import RTCCapture
import RTCMedia

/// Pictures that are put together from copies of monitors: of several monitors, or turned ones.
struct Composition {
  private var canvases: CanvasPool

  init(size: PixelSize) { canvases = CanvasPool(size: size) }

  mutating func noteChange(_ rect: PixelRect) { canvases.noteChange(rect) }

  /// The present picture, leased; nil while the consumer holds all of them.
  mutating func draw(
    _ plan: ScreenPlan, from copies: [OutputCopy], onRelease: @escaping @Sendable () -> Void
  ) -> PixelBuffer? {
    guard let canvas = canvases.free() else { return nil }
    for part in plan.parts {
      guard let (picture, orientation) = copies[part.output].newest else { continue }
      for stale in canvas.stale.rects {
        let target = stale.intersection(
          PixelRect(x: part.x, y: part.y, width: part.rect.width, height: part.rect.height))
        Self.copy(picture, orientation, part, to: target, of: canvas.memory)
      }
    }
    canvas.stale.removeAll()
    return canvas.memory.lease(onRelease: onRelease)
  }

  /// - Parameter target: the place in the whole picture, inside the part.
  private static func copy(
    _ picture: CopiedPicture, _ orientation: PixelOrientation, _ part: ScreenPlan.Part, to target: PixelRect,
    of memory: PictureMemory
  ) {
    let size = picture.layout.size
    let upright = PixelRect(orientation.uprightSize(of: size))
    // The part of the monitor's picture that belongs there, as far as the copy has it.
    let source = PixelRect(
      x: target.x - part.x + part.rect.x, y: target.y - part.y + part.rect.y, width: target.width, height: target.height
    ).intersection(upright)
    guard !source.isEmpty else { return }
    let packed = PackedPicture(
      base: picture.row(0, from: 0), stride: picture.layout.stride, size: size, format: picture.layout.format,
      orientation: orientation)
    packed.copy(
      source, to: memory.bytes.baseAddress!.assumingMemoryBound(to: UInt32.self), of: memory.size,
      x: source.x - part.rect.x + part.x, y: source.y - part.rect.y + part.y)
  }
}
