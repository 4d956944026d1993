import RTCCapture
import RTCMedia
import RTCPrimitives

/// The pointer as the stream tells of it, and what is reported of it.
struct StreamCursor {
  private let settings: CursorSettings
  private var reporter: CursorReporter?
  private(set) var image: CursorImage?
  private var imageNumber = 0
  /// In pixels of the picture; nil while it is not in the stream.
  var position: CursorPosition?
  /// Whether the stream tells of the pointer; one that does not may have drawn it.
  var isTold = false
  private var drawing: CursorDrawing?

  init(_ settings: CursorSettings) { self.settings = settings }

  /// Whether the next frame is to show the pointer.
  var drawsCursor: Bool { settings.now.drawsCursor }

  mutating func take(_ newImage: CursorImage) {
    image = newImage
    imageNumber += 1
  }

  /// Where it is to be drawn: the picture's top left corner. Nil when there is nothing to draw.
  var placed: (image: CursorImage, x: Int, y: Int)? {
    guard let image, let position, !image.isInvisible else { return nil }
    return (image, position.x - image.hotX, position.y - image.hotY)
  }

  /// The part of a picture of `size` that the pointer covers; nil: none.
  func covered(of size: PixelSize) -> PixelRect? {
    guard let placed else { return nil }
    let rect = PixelRect(x: placed.x, y: placed.y, width: placed.image.size.width, height: placed.image.size.height)
      .intersection(PixelRect(size))
    return rect.isEmpty ? nil : rect
  }

  /// The frame of `time` shows the pointer or does not.
  mutating func noteFrame(isDrawn: Bool, size: PixelSize, time: Timestamp) {
    if drawing?.isDrawn != isDrawn || drawing?.pictureSize != size {
      drawing = CursorDrawing(isDrawn: isDrawn, pictureSize: size, since: time)
    }
    tell()
  }

  /// Tells the consumer what it does not know yet.
  mutating func tell() {
    let consumer = settings.now.consumer
    if consumer !== reporter?.consumer { reporter = consumer.map { CursorReporter($0) } }
    guard let drawing else { return }
    reporter?.tell(drawing)
    if let image { reporter?.tell(image, number: imageNumber) }
    guard !drawing.isDrawn else { return }
    let shown = covered(of: drawing.pictureSize) == nil ? nil : position
    reporter?.tell(position: shown)
  }
}
