public import RTCPrimitives

/// A video codec, by its RTP encoding name.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
  /// RFC 6386; RTP payload format RFC 7741.
  case vp8 = "VP8"
  /// RTP payload format RFC 9628.
  case vp9 = "VP9"
  /// ITU-T H.264; RTP payload format RFC 6184.
  case h264 = "H264"
  /// AV1 Bitstream & Decoding Process; RTP payload format by the Alliance for Open Media.
  case av1 = "AV1"
}

/// Names one unbroken run of frames of a track: the frames of one encoder, or of one file passed through. A viewer is on
/// one rendition at a time and changes only at a key frame.
public struct Rendition: Hashable, Sendable, BitwiseCopyable {
  /// Chosen by whoever makes the frames; 0 is the broadcast's own encoder.
  public var number: UInt32
  /// The rendition of that number.
  public init(_ number: UInt32) { self.number = number }

  /// What the broadcast's own encoder makes.
  public static let encoded = Rendition(0)
}

/// One encoded picture, shared by every viewer: immutable, its bytes reference-counted.
public struct EncodedFrame: Sendable {
  /// What `data` is coded with.
  public var codec: VideoCodec
  /// The run of frames that it belongs to.
  public var rendition: Rendition
  /// As the codec's RTP payload format takes it: H.264 as Annex B with parameter sets before each IDR picture, AV1 as
  /// OBUs without temporal delimiters, VP8 and VP9 as they are.
  public var data: [UInt8]
  /// True when it can be decoded without any other frame.
  public var isKeyFrame: Bool
  /// Size of the coded picture in pixels, before `rotation`.
  public var size: PixelSize
  /// When the picture was taken, on the monotonic clock; the RTP timestamp follows from it.
  public var captureTime: Timestamp
  /// When the encoder handed it over.
  public var encodedTime: Timestamp
  /// The quantiser it was coded with, in the codec's own scale (VP8: 0…127).
  public var quantizer: Int
  /// How viewers turn the decoded picture.
  public var rotation: VideoRotation
  /// What the encoder was asked to keep; it is also sent to viewers as video-content-type.
  public var contentHint: ContentHint
  /// What the samples mean, where the bitstream cannot say so (VP8); nil: BT.601 limited, or as the bitstream says.
  public var colorSpace: ColorSpace?
  /// Counts the rendition's frames from 0; a gap tells a receiver of these values that a frame was left out.
  public var number: UInt64

  /// See the properties.
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
