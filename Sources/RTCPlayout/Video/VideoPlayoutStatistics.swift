public import RTCMedia
public import RTCPrimitives

/// What became of one incoming video.
public struct VideoPlayoutStatistics: Hashable, Sendable {
  /// Whole frames that came.
  public var framesReceived = 0
  public var framesDecoded = 0
  /// When the first frame was decoded, by the playout's clock; nil before.
  public var firstDecoded: Timestamp?
  public var framesShown = 0
  /// Left out before they were decoded: too many or too late, or waiting for a key frame.
  public var framesDropped = 0
  /// Decoded, but too late to be shown beside a newer one.
  public var framesSkipped = 0
  public var keyFramesDecoded = 0
  public var decoderErrors = 0
  public var keyFrameRequests = 0
  /// Moments at which the video stood still, as W3C webrtc-stats counts them, and their length.
  public var freezes = 0
  public var frozen = TimeDelta.zero
  /// The time that decoding took, in all.
  public var decodeTime = TimeDelta.zero
  /// How long after its fastest possible arrival a frame is shown, and how long that is to be.
  public var delay = TimeDelta.zero
  public var targetDelay = TimeDelta.zero
  /// Of the last frame; nil before the first.
  public var size: PixelSize?
  public var codec: VideoCodec?

  public init() {}
}
