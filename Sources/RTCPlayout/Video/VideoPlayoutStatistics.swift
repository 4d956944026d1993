package import RTCMedia
package import RTCPrimitives

/// Statistics of one incoming video.
package struct VideoPlayoutStatistics: Hashable, Sendable {
  /// Whole frames that came.
  package var framesReceived = 0
  /// By the decoder, without an error.
  package var framesDecoded = 0
  /// When the first frame was decoded, by the playout's clock; nil before.
  package var firstDecoded: Timestamp?
  /// Frames passed to the sinks.
  package var framesShown = 0
  /// Left out before they were decoded: too many or too late, or waiting for a key frame.
  package var framesDropped = 0
  /// Decoded, but too late to be shown beside a newer one.
  package var framesSkipped = 0
  /// Key frames among `framesDecoded`.
  package var keyFramesDecoded = 0
  /// Frames that the decoder refused, or had no decoder.
  package var decoderErrors = 0
  /// How often the sender was to be asked for a key frame.
  package var keyFrameRequests = 0
  /// Moments at which the video stood still, as W3C webrtc-stats counts them.
  package var freezes = 0
  /// How long the video stood still in all.
  package var frozen = TimeDelta.zero
  /// The time that decoding took, in all.
  package var decodeTime = TimeDelta.zero
  /// How long after its fastest possible arrival a frame is shown.
  package var delay = TimeDelta.zero
  /// The target of `delay`.
  package var targetDelay = TimeDelta.zero
  /// The size of the last frame; nil before the first.
  package var size: PixelSize?
  /// The codec of the last frame; nil before the first.
  package var codec: VideoCodec?

  /// All at 0.
  package init() {}
}
