public import RTCMedia
public import RTCPrimitives

/// What became of one incoming video.
public struct VideoPlayoutStatistics: Hashable, Sendable {
  /// Whole frames that came.
  public var framesReceived = 0
  /// By the decoder, without an error.
  public var framesDecoded = 0
  /// When the first frame was decoded, by the playout's clock; nil before.
  public var firstDecoded: Timestamp?
  /// Handed to the sinks.
  public var framesShown = 0
  /// Left out before they were decoded: too many or too late, or waiting for a key frame.
  public var framesDropped = 0
  /// Decoded, but too late to be shown beside a newer one.
  public var framesSkipped = 0
  /// Of `framesDecoded`, those that needed no other frame.
  public var keyFramesDecoded = 0
  /// Frames that the decoder refused, or had no decoder.
  public var decoderErrors = 0
  /// How often the sender was to be asked for a key frame.
  public var keyFrameRequests = 0
  /// Moments at which the video stood still, as W3C webrtc-stats counts them.
  public var freezes = 0
  /// How long the video stood still in all.
  public var frozen = TimeDelta.zero
  /// The time that decoding took, in all.
  public var decodeTime = TimeDelta.zero
  /// How long after its fastest possible arrival a frame is shown.
  public var delay = TimeDelta.zero
  /// How long `delay` is to be.
  public var targetDelay = TimeDelta.zero
  /// The size of the last frame; nil before the first.
  public var size: PixelSize?
  /// The codec of the last frame; nil before the first.
  public var codec: VideoCodec?

  /// All at 0.
  public init() {}
}
