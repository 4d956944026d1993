public import RTCPrimitives

/// An immutable lease on pixels. The buffer returns to its owner (pool, X shared memory segment, FFmpeg frame, plugin)
/// when the last copy of the lease is gone.
public struct VideoFrame: Sendable {
  /// The pixels, leased: they stay as they are while anybody holds them.
  public let buffer: PixelBuffer
  /// When the picture was taken, on the monotonic clock.
  public var captureTime: Timestamp
  /// How the viewer turns the picture before showing it.
  public var rotation: VideoRotation
  /// The changes since the frame before, in pixels of this frame; nil means unknown, that is everything. Empty means
  /// nothing.
  public var damage: [PixelRect]?
  /// The colour space of the samples.
  public var colorSpace: ColorSpace
  /// Overrides the cast's content hint for this frame; nil keeps it.
  public var contentHint: ContentHint?

  /// A picture taken at `captureTime` of the monotonic clock.
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

  /// In pixels, before rotation.
  public var size: PixelSize { buffer.size }
}
