public import RTCPrimitives

/// An immutable lease on pixels. The buffer returns to its owner (pool, X shared memory segment, FFmpeg frame, plugin)
/// when the last copy of the lease is gone.
public struct VideoFrame: Sendable {
  public let buffer: PixelBuffer
  /// When the picture was taken, on the monotonic clock.
  public var captureTime: Timestamp
  public var rotation: VideoRotation
  /// What changed since the frame before, in pixels of this frame; nil means unknown, so everything.
  /// Empty means nothing.
  public var damage: [PixelRect]?
  public var colorSpace: ColorSpace
  /// Overrides the cast's content hint for this frame; nil keeps it.
  public var contentHint: ContentHint?

  public init(
    buffer: PixelBuffer, captureTime: Timestamp, rotation: VideoRotation = .none, damage: [PixelRect]? = nil,
    colorSpace: ColorSpace, contentHint: ContentHint? = nil
  ) {
    self.buffer = buffer
    self.captureTime = captureTime
    self.rotation = rotation
    self.damage = damage
    self.colorSpace = colorSpace
    self.contentHint = contentHint
  }

  public var size: PixelSize { buffer.size }
}
