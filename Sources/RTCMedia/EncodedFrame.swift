public import RTCPrimitives

/// A video codec, by its RTP encoding name.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
  case vp8 = "VP8"
  case vp9 = "VP9"
  case h264 = "H264"
  case av1 = "AV1"
}

/// Names one unbroken run of frames of a track: the frames of one encoder, or of one file passed through. A viewer is on
/// one rendition at a time and changes only at a key frame.
public struct Rendition: Hashable, Sendable, BitwiseCopyable {
  public var number: UInt32
  public init(_ number: UInt32) { self.number = number }

  /// What the broadcast's own encoder makes.
  public static let encoded = Rendition(0)
}

/// Which frames of its rendition a frame was predicted from, key frames aside.
public enum FrameReferences: Hashable, Sendable {
  /// The frame before it, as encoders without layers do.
  case previous
  /// These, by `EncodedFrame.number`: whoever has decoded all of them can decode the frame.
  case frames([UInt64])
}

/// One encoded picture, shared by every viewer: immutable, its bytes reference-counted.
public struct EncodedFrame: Sendable {
  public var codec: VideoCodec
  public var rendition: Rendition
  /// As the codec's RTP payload format takes it: H.264 as Annex B with parameter sets before each IDR picture, AV1 as
  /// OBUs without temporal delimiters, VP8 and VP9 as they are.
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
  /// What the samples mean, where the bitstream cannot say so (VP8); nil: BT.601 limited, or as the bitstream says.
  public var colorSpace: ColorSpace?
  /// Counts the rendition's frames from 0; a gap tells a receiver of these values that a frame was left out.
  public var number: UInt64
  /// What must be decoded before it; says nothing of a key frame.
  public var references = FrameReferences.previous

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
  func take(_ frame: EncodedFrame)
  func take(_ frame: EncodedAudioFrame)
}
