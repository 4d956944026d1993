import RTCPrimitives

/// Raises the rate while nothing speaks against it and cuts it when packets come later and later
/// (draft-ietf-rmcat-gcc-02 §5.5): by a share far from the path's known capacity, by some packets a second near it.
struct AIMDRateControl {
  /// The result of one update.
  enum Change { case none, increased, decreased }

  /// The factor of the arrival rate for a decrease, when a queue grows.
  static let decrease = 0.85
  /// Growth a second.
  private static let increase = 0.08
  /// The maximum rate as a multiple of the arrival rate: more is not proved.
  static let headroom = 1.5
  private static let headroomOffset = 10_000.0
  /// Growth per second near the capacity: one packet each 200 ms, independent of the round-trip time, so that near and
  /// far peers converge to equal shares.
  private static let additiveIncrease = 48_000.0
  /// A full round of sending, arrival and feedback takes this beside the round trip.
  private static let responseTime = TimeDelta.milliseconds(100)

  /// Bits per second.
  private(set) var rate: Double
  private(set) var capacity = LinkCapacityEstimator()
  private var lastUpdate: Timestamp?
  private var lastDecrease: Timestamp?

  init(rate: Double) { self.rate = rate }

  /// The input of an update.
  struct Input {
    var usage: TrendlineEstimator.Usage
    /// Bits per second that arrived lately; nil while too few packets have.
    var acknowledged: Double?
    /// The arrival rate, in bit/s, of packets that had queued behind one another: the path's rate while it was full.
    /// Nil without such packets. For bursty sources it is higher than the average arrival rate.
    var busy: Double?
    /// All of the rate is used, and no queue stands.
    var mayIncrease: Bool
    /// Whether less was sent than the rate, so that the arrival rate does not show the path's capacity.
    var isApplicationLimited: Bool
    /// The path was full lately.
    var isNearCapacity: Bool
    var roundTrip: TimeDelta
    var now: Timestamp
  }

  mutating func update(_ input: Input) -> Change {
    let elapsed = lastUpdate.map { max(.zero, min(input.now - $0, .seconds(1))) } ?? .zero
    lastUpdate = input.now
    if let acknowledged = input.acknowledged, capacity.isAbove(acknowledged) { capacity.reset() }
    switch input.usage {
    case .overuse: return decrease(input)
    case .underuse: return .none  // a queue drains: let it
    case .normal: return input.mayIncrease ? increase(input, elapsed.seconds) : .none
    }
  }

  private mutating func decrease(_ input: Input) -> Change {
    if let lastDecrease, input.now - lastDecrease < input.roundTrip + Self.responseTime { return .none }
    lastDecrease = input.now
    var basis = rate
    if let acknowledged = input.acknowledged, !input.isApplicationLimited {
      let delivered = max(acknowledged, min(input.busy ?? 0, rate))
      if capacity.isBelow(delivered) { capacity.reset() }
      capacity.add(delivered)
      basis = min(rate, delivered)
    }
    rate = min(rate, basis * Self.decrease)
    return .decreased
  }

  private mutating func increase(_ input: Input, _ elapsed: Double) -> Change {
    guard let acknowledged = input.acknowledged else { return .none }
    let step =
      capacity.mean == nil && !input.isNearCapacity
      ? max(rate * Self.increase, 1_000) : Self.additiveIncrease
    let limit = acknowledged * Self.headroom + Self.headroomOffset
    let new = max(rate, min(rate + step * elapsed, limit))
    defer { rate = new }
    return new > rate ? .increased : .none
  }

  /// Sets the rate by another part: a probe, the limits, a draining queue.
  mutating func set(_ rate: Double) { self.rate = rate }

  /// Sets the capacity to the arrival rate of a full path.
  mutating func setCapacity(_ rate: Double) { capacity.set(rate) }

  /// Resets the capacity, since the path has more than assumed.
  mutating func forgetCapacity() { capacity.reset() }
}
