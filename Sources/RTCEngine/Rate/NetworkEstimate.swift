public import RTCPrimitives

/// A bandwidth estimate and its parts.
public struct NetworkEstimate: Hashable, Sendable {
  /// The reason of the last change of the target.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// No measurement yet.
    case start
    /// No sign of congestion.
    case increase
    /// Less is sent than the path allows, or its bandwidth is unknown.
    case hold
    /// A probe arrived as fast as it was sent.
    case probe
    /// Packets come later and later: a queue grows.
    case overuse
    /// Packets come later than they can: a queue stands.
    case queue
    /// Packets are lost.
    case loss
    /// The round trip is too long for what waits on it.
    case roundTrip
    /// Feedback is missing.
    case feedback
    /// The remote peer asks for no more (REMB).
    case remote
    /// The bounds that were set.
    case limits
  }

  /// The total send rate, within the limits: audio, video, repair and data.
  public var target: BitRate
  /// The reason of the target.
  public var reason = Reason.start
  /// How fast packets may leave one after another.
  public var pacingRate: BitRate
  /// Bytes that may leave at once after a pause.
  public var burst: Int
  /// Bytes that may be on their way without feedback; nil: any.
  public var window: Int?
  /// Packet loss lately, 0…1.
  public var loss = 0.0
  /// How much later than the fastest packets come; nil while nothing says so.
  public var queueingDelay: TimeDelta?
  /// Nil until it was measured.
  public var roundTripTime: TimeDelta?

  // MARK: Parts

  /// The rate that delay alone allows; nil if the estimator has no such part.
  public var delayBased: BitRate?
  /// The rate that loss alone allows; nil if the estimator has no such part.
  public var lossBased: BitRate?
  /// The recent arrival rate; nil if the estimator does not measure it.
  public var acknowledged: BitRate?
  /// The remote peer's limit (REMB); nil if there is none.
  public var remoteMaximum: BitRate?

  /// An estimate of which nothing else is known.
  public init(target: BitRate, pacingRate: BitRate, burst: Int) {
    self.target = target
    self.pacingRate = pacingRate
    self.burst = burst
  }
}
