import RTCPrimitives

/// Raises the rate while nothing speaks against it and cuts it when packets come later and later
/// (draft-ietf-rmcat-gcc-02 §5.5): by a share far from the path's known capacity, by some packets a second near it.
struct AIMDRateControl {
  /// What one update did.
  enum Change { case none, increased, decreased }

  /// Of what arrives, when a queue grows.
  static let decrease = 0.85
  /// Growth a second.
  private static let increase = 0.08
  /// The rate does not grow beyond what arrives times this: nobody has shown that it would.
  static let headroom = 1.5
  private static let headroomOffset = 10_000.0
  /// Growth a second near the capacity: a packet each 200 ms, whatever the round trip, so that near peers and far ones
  /// come to the same share.
  private static let additiveIncrease = 48_000.0
  /// A full round of sending, arrival and feedback takes this beside the round trip.
  private static let responseTime = TimeDelta.milliseconds(100)

  /// Bits per second.
  private(set) var rate: Double
  private(set) var capacity = LinkCapacityEstimator()
  private var lastUpdate: Timestamp?
  private var lastDecrease: Timestamp?

  init(rate: Double) { self.rate = rate }

  /// What is known when feedback comes.
  struct Input {
    var usage: TrendlineEstimator.Usage
    /// Bits per second that arrived lately; nil while too few packets have.
    var acknowledged: Double?
    /// Bits per second at which packets came that had waited for one another: what the path gave us while it was full.
    /// Nil while none had. A source that sends by fits has more of it than what arrived over some time.
    var busy: Double?
    /// All of the rate is used, and no queue stands.
    var mayIncrease: Bool
    /// Less was sent than the rate: what arrives does not say what the path bears.
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

  /// Another part knows better: a probe, the limits, a queue that drains.
  mutating func set(_ rate: Double) { self.rate = rate }

  /// The path was full, and this is what came.
  mutating func setCapacity(_ rate: Double) { capacity.set(rate) }

  /// The path bears more than was thought.
  mutating func forgetCapacity() { capacity.reset() }
}
