import RTCMedia
public import RTCPrimitives

/// A reduction of quality and its reason; corresponds to `qualityLimitationReason` of W3C's statistics.
public struct QualityLimitation: Hashable, Sendable {
  /// The resource that is short.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The networks of the viewers that the encoder serves.
    case bandwidth
    /// Time of the processor.
    case cpu
  }

  /// The resource that is short.
  public var reason: Reason
  /// The bandwidth of the networks.
  public var rate: BitRate
  /// The remaining number of pictures a second; nil: all.
  public var frameRate: Double?
  /// Pictures are as coarse as they may get.
  public var isCoarse = false
  /// Pictures are scaled down to this; nil: they are not.
  public var size: PixelSize?

  /// Makes a limitation; set the reduced properties afterwards.
  public init(reason: Reason, rate: BitRate) {
    self.reason = reason
    self.rate = rate
  }
}
