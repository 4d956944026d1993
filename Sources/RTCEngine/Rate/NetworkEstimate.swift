public import RTCPrimitives

/// What an estimator holds the path to bear, and how it came to that.
public struct NetworkEstimate: Hashable, Sendable {
  /// What decided the target last.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Nothing is known yet.
    case start
    /// Nothing speaks against more.
    case increase
    /// Less is sent than the path bears, or it is not known whether it bears more.
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

  /// What everything together may be sent at, within the limits: sound, video, repair and data.
  public var target: BitRate
  /// What decided the target.
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

  /// What delay alone allows; nil where the estimator has no such part. The same of the others.
  public var delayBased: BitRate?
  /// What loss alone allows.
  public var lossBased: BitRate?
  /// What lately arrived.
  public var acknowledged: BitRate?
  /// What the remote peer allows (REMB).
  public var remoteMaximum: BitRate?

  /// An estimate of which nothing else is known.
  public init(target: BitRate, pacingRate: BitRate, burst: Int) {
    self.target = target
    self.pacingRate = pacingRate
    self.burst = burst
  }
}
