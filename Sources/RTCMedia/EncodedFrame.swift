public import RTCPrimitives

/// A video codec, by its RTP encoding name.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
  case vp8 = "VP8"
}

/// One encoded picture, shared by every viewer: immutable, its bytes reference-counted.
public struct EncodedFrame: Sendable {
  public var codec: VideoCodec
  public var data: [UInt8]
  public var isKeyFrame: Bool
  public var size: PixelSize
  /// When the picture was taken, on the monotonic clock; the RTP timestamp follows from it.
  public var captureTime: Timestamp
  /// When the encoder handed it over.
  public var encodedTime: Timestamp
  /// The quantiser it was coded with, in the codec's own scale (VP8: 0…127).
  public var quantizer: Int
  public var rotation: VideoRotation
  public var contentHint: ContentHint
  /// Counts the source's encoded frames from 0; a gap tells a receiver of these values that a frame was left out.
  public var number: UInt64

  public init(
    codec: VideoCodec, data: [UInt8], isKeyFrame: Bool, size: PixelSize, captureTime: Timestamp,
    encodedTime: Timestamp, quantizer: Int, rotation: VideoRotation, contentHint: ContentHint, number: UInt64
  ) {
    self.codec = codec
    self.data = data
    self.isKeyFrame = isKeyFrame
    self.size = size
    self.captureTime = captureTime
    self.encodedTime = encodedTime
    self.quantizer = quantizer
    self.rotation = rotation
    self.contentHint = contentHint
    self.number = number
  }
}
