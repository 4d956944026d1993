public import RTCMedia
public import RTCPrimitives

/// Totals of a pipeline since it was made. What happened in between is the difference of two snapshots: `rates(since:)`.
public struct PipelineStatistics: Hashable, Sendable {
  /// When the snapshot was taken.
  public var time = Timestamp.zero
  /// The coded size; nil before the first frame.
  public var size: PixelSize?
  public var contentHint = ContentHint.detail
  public var framesCaptured: UInt64 = 0
  /// All frames given to the sink, refinements and key frames included.
  public var framesEncoded: UInt64 = 0
  public var keyFrames: UInt64 = 0
  /// Frames that improved a resting picture.
  public var refinements: UInt64 = 0
  /// Captured frames left out for lack of bits; their changes came with a later frame.
  public var framesDropped: UInt64 = 0
  public var bytesEncoded: UInt64 = 0
  /// Full passes over pixels beyond the one conversion.
  public var rawCopies: UInt64 = 0
  /// The quantiser of the last frame, in the codec's own scale.
  public var quantizer = 0
  /// From the taking of pictures to their arrival here.
  public var captureTime = TimeDelta.zero
  public var convertTime = TimeDelta.zero
  public var encodeTime = TimeDelta.zero

  public init() {}

  /// Means over the time since `earlier`, a snapshot of the same pipeline.
  public func rates(since earlier: PipelineStatistics) -> PipelineRates {
    let seconds = max(1e-9, (time - earlier.time).seconds)
    let captured = Double(framesCaptured - earlier.framesCaptured)
    let encoded = Double(framesEncoded - earlier.framesEncoded)
    func milliseconds(_ total: TimeDelta, _ before: TimeDelta, _ count: Double) -> Double {
      count > 0 ? (total - before).seconds * 1000 / count : 0
    }
    return PipelineRates(
      fpsCaptured: captured / seconds, fpsEncoded: encoded / seconds,
      bitrate: BitRate(bitsPerSecond: Int64(Double(bytesEncoded - earlier.bytesEncoded) * 8 / seconds)),
      captureMilliseconds: milliseconds(captureTime, earlier.captureTime, captured),
      convertMilliseconds: milliseconds(convertTime, earlier.convertTime, captured),
      encodeMilliseconds: milliseconds(encodeTime, earlier.encodeTime, encoded))
  }
}

/// What a pipeline did per second, and what a frame took, over some stretch of time.
public struct PipelineRates: Hashable, Sendable {
  public var fpsCaptured: Double
  public var fpsEncoded: Double
  public var bitrate: BitRate
  /// From the taking of a picture to its arrival at the pipeline.
  public var captureMilliseconds: Double
  public var convertMilliseconds: Double
  public var encodeMilliseconds: Double
}
