public import RTCPrimitives

/// One encoded picture, shared by every viewer: immutable, its bytes reference-counted.
public struct EncodedFrame: Sendable {
  /// What decodes `data`.
  public var codec: VideoCodec
  /// Of several codings of one source, which this belongs to.
  public var rendition: Rendition
  /// As the codec's RTP payload format takes it: H.264 as Annex B with parameter sets before each IDR picture, AV1 as
  /// OBUs without temporal delimiters, VP8 and VP9 as they are.
  public var data: [UInt8]
  /// It needs no other frame: decoding can begin here.
  public var isKeyFrame: Bool
  /// Of the coded picture, in pixels, before rotation.
  public var size: PixelSize
  /// When the picture was taken, on the monotonic clock; the RTP timestamp follows from it.
  public var captureTime: Timestamp
  /// When the encoder handed it over.
  public var encodedTime: Timestamp
  /// The quantiser it was coded with, in the codec's own scale (VP8: 0…127).
  public var quantizer: Int
  /// How the viewer turns the picture before showing it.
  public var rotation: VideoRotation
  /// What matters in the picture when bandwidth is short.
  public var contentHint: ContentHint
  /// What the samples mean, where the bitstream cannot say so (VP8); nil: BT.601 limited, or as the bitstream says.
  public var colorSpace: ColorSpace?
  /// Counts the rendition's frames from 0; a gap tells a receiver of these values that a frame was left out.
  public var number: UInt64
  /// What must be decoded before it. A key frame needs nothing: `.frames([])` says that each frame after it names what it
  /// needs.
  public var references = FrameReferences.previous
  /// Where it stands in a scalable stream.
  public var layer = FrameLayer.base
  /// How finely its colours are sampled.
  public var chroma = ChromaSampling.quarter

  /// One coded picture, with the times of its way in the monotonic clock.
  public init(
    codec: VideoCodec, data: [UInt8], isKeyFrame: Bool, size: PixelSize, captureTime: Timestamp,
    encodedTime: Timestamp, quantizer: Int, rotation: VideoRotation, contentHint: ContentHint,
    colorSpace: ColorSpace? = nil,
    number: UInt64, rendition: Rendition = .encoded
  ) {
    self.codec = codec
    self.rendition = rendition
    self.data = data
    self.isKeyFrame = isKeyFrame
    self.size = size
    self.captureTime = captureTime
    self.encodedTime = encodedTime
    self.quantizer = quantizer
    self.rotation = rotation
    self.contentHint = contentHint
    self.colorSpace = colorSpace
    self.number = number
  }
}

/// Takes what is sent, picture and sound: a recorder. Called from the sources' threads, which must not wait for it.
public protocol EncodedMediaSink: AnyObject, Sendable {
  /// A video frame that is sent now.
  func take(_ frame: EncodedFrame)
  /// An Opus packet that is sent now.
  func take(_ frame: EncodedAudioFrame)
}

/// Which frames of its rendition a frame was predicted from, key frames aside.
public enum FrameReferences: Hashable, Sendable {
  /// The frame before it, as encoders without layers do.
  case previous
  /// These, by `EncodedFrame.number`: whoever has decoded all of them can decode the frame.
  case frames([UInt64])
}

/// Where a frame stands in a scalable stream: 0 and 0 in one that is not.
public struct FrameLayer: Hashable, Sendable, BitwiseCopyable {
  /// Of larger and larger pictures, 0 the smallest.
  public var spatial: UInt8
  /// Of more and more pictures a second, 0 the fewest.
  public var temporal: UInt8

  /// The base layer, where nothing else is said.
  public init(spatial: UInt8 = 0, temporal: UInt8 = 0) {
    self.spatial = spatial
    self.temporal = temporal
  }

  /// What every viewer needs.
  public static let base = FrameLayer()
}
