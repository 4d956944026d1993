import RTCMedia
public import RTCPrimitives

/// What gives way, and why: what W3C's `qualityLimitationReason` and its neighbours say of a sender.
public struct QualityLimitation: Hashable, Sendable {
  /// What there is too little of.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The networks of the viewers that the encoder serves.
    case bandwidth
    /// Time of the processor.
    case cpu
  }

  /// What there is too little of.
  public var reason: Reason
  /// What the networks bear.
  public var rate: BitRate
  /// Pictures a second that are left; nil: all of them.
  public var frameRate: Double?
  /// Pictures are as coarse as they may get.
  public var isCoarse = false
  /// Pictures are scaled down to this; nil: they are not.
  public var size: PixelSize?

  /// Something gives way because of `reason`; set what.
  public init(reason: Reason, rate: BitRate) {
    self.reason = reason
    self.rate = rate
  }
}
