/// How a pointer looks.
public struct CursorImage: Hashable, Sendable {
  /// The size of the image.
  public var size: PixelSize
  /// The column of the pixel that points, from the image's left edge.
  public var hotX: Int
  /// The row of the pixel that points, from the image's upper edge.
  public var hotY: Int
  /// Row by row, each 0xAARRGGBB, the colours multiplied by alpha.
  public var pixels: [UInt32]

  /// - Parameter pixels: as many as `size` has.
  public init(size: PixelSize, hotX: Int, hotY: Int, pixels: [UInt32]) {
    precondition(pixels.count == size.width * size.height, "CursorImage: a pixel for each place")
    (self.size, self.hotX, self.hotY, self.pixels) = (size, hotX, hotY, pixels)
  }

  /// Whether all pixels are transparent.
  public var isInvisible: Bool { !pixels.contains { $0 >> 24 != 0 } }
}

/// The position of a pointer, in pixels of the picture; it may be outside, with a part of the pointer inside.
public struct CursorPosition: Hashable, Sendable {
  /// From the picture's left edge.
  public var x: Int
  /// From the picture's upper edge.
  public var y: Int

  /// In pixels of the picture.
  public init(x: Int, y: Int) { (self.x, self.y) = (x, y) }
}

/// Whether frames show the pointer.
public struct CursorDrawing: Hashable, Sendable {
  /// Whether the pointer is drawn into frames.
  public var isDrawn: Bool
  /// The size of the frames, to which positions refer.
  public var pictureSize: PixelSize
  /// Frames that were captured then or later are like this.
  public var since: Timestamp

  /// - Parameter since: the capture time of the first frame that is like this.
  public init(isDrawn: Bool, pictureSize: PixelSize, since: Timestamp) {
    (self.isDrawn, self.pictureSize, self.since) = (isDrawn, pictureSize, since)
  }
}

/// A capturer's report about the pointer.
public enum CursorReport: Hashable, Sendable {
  /// Whether frames show it, before the first frame that this holds for.
  case drawing(CursorDrawing)
  /// The pointer has a new image.
  case image(CursorImage)
  /// The pointer has moved; nil: no part of it is in the picture.
  case position(CursorPosition?)
}

/// Receives reports of the pointer. Called on the capturer's thread, never within a call of `CursorCapturer`'s, and not
/// after `stopCapture` has returned.
public protocol CursorConsumer: AnyObject, Sendable {
  /// Takes the next report; it must not wait.
  func consume(_ report: CursorReport)
}

/// A capturer that can report the pointer instead of drawing it into its frames: a screen.
///
/// By default it draws the pointer. Whether it is drawn and its image are always reported, its position only while it
/// is not drawn.
public protocol CursorCapturer: VideoCapturer {
  /// False if there is no pointer, neither in frames nor in reports.
  var hasCursor: Bool { get }

  /// Sets the receiver of reports, which first gets the complete state; nil: none. Any thread.
  func setCursorConsumer(_ consumer: (any CursorConsumer)?)

  /// Says whether frames are to show the pointer; they do at first, and without a consumer. Holds from the next frame on, which comes
  /// soon when the pointer is in the picture. Any thread.
  func setDrawsCursor(_ isDrawn: Bool)
}
