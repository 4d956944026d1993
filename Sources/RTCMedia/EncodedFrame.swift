public import RTCPrimitives

/// One encoded picture, shared by every viewer: immutable, its bytes reference-counted.
public struct EncodedFrame: Sendable {
  /// The codec of `data`.
  public var codec: VideoCodec
  /// The rendition: which of several encodings of one source.
  public var rendition: Rendition
  /// The data in the form that the codec's RTP payload format takes: H.264 as Annex B with parameter sets before each
  /// IDR picture, AV1 as OBUs without temporal delimiters, VP8 and VP9 as they are.
  public var data: [UInt8]
  /// Whether the frame needs no other: decoding can begin here.
  public var isKeyFrame: Bool
  /// The size of the coded picture, in pixels, before rotation.
  public var size: PixelSize
  /// When the picture was taken, on the monotonic clock; the RTP timestamp follows from it.
  public var captureTime: Timestamp
  /// The time at which the encoder finished it.
  public var encodedTime: Timestamp
  /// The quantiser it was coded with, in the codec's own scale (VP8: 0…127).
  public var quantizer: Int
  /// How the viewer turns the picture before showing it.
  public var rotation: VideoRotation
  /// The quality to preserve in the picture when bandwidth is short: sharpness or frame rate.
  public var contentHint: ContentHint
  /// The colour space, if the bitstream cannot state it (VP8); nil: BT.601 limited, or that of the bitstream.
  public var colorSpace: ColorSpace?
  /// The number of the frame in its rendition, from 0; a gap shows a receiver that a frame was left out.
  public var number: UInt64
  /// The frames that must be decoded before it. For a key frame, `.frames([])` means that each later frame lists its
  /// references.
  public var references = FrameReferences.previous
  /// The position in a scalable stream.
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

/// Receives the sent picture and sound: a recorder. Called on the sources' threads, which must not wait.
public protocol EncodedMediaSink: AnyObject, Sendable {
  /// A video frame that is sent now.
  func take(_ frame: EncodedFrame)
  /// An Opus packet that is sent now.
  func take(_ frame: EncodedAudioFrame)
}

/// The frames of its rendition that a frame refers to, except for key frames.
public enum FrameReferences: Hashable, Sendable {
  /// The frame before it, as encoders without layers do.
  case previous
  /// The numbers (`EncodedFrame.number`) of the frames: a decoder that has decoded all of them can decode the frame.
  case frames([UInt64])
}

/// The position of a frame in a scalable stream: 0 and 0 in other streams.
public struct FrameLayer: Hashable, Sendable, BitwiseCopyable {
  /// The spatial layer; 0 has the smallest pictures.
  public var spatial: UInt8
  /// The temporal layer; 0 has the fewest pictures a second.
  public var temporal: UInt8

  /// The base layer, where nothing else is said.
  public init(spatial: UInt8 = 0, temporal: UInt8 = 0) {
    self.spatial = spatial
    self.temporal = temporal
  }

  /// The base layer, which every viewer needs.
  public static let base = FrameLayer()
}
