import RTCPrimitives

/// Drains standing queues of any cause: sends less than the path delivers until the queue is gone, then continues just
/// below the delivered rate. It needs no history of trends, so that the first packets after a pause suffice.
struct StandingQueueGuard {
  /// The action to take.
  enum Action {
    case none
    /// Send at so many bits per second while the queue drains.
    case drain(Double)
    /// The queue is gone; the path delivered so many bits per second while it stood.
    case drained(capacity: Double)
    /// The queue stays although little is sent: it is none of ours, or the path itself has become longer.
    case acceptDelay
  }

  /// A queue of more than this is acted upon.
  static let threshold = TimeDelta.milliseconds(23)
  /// A queue of less is none.
  static let drainedBelow = TimeDelta.milliseconds(12)
  /// The rate of arrival is measured over at least this.
  static let measuringTime = TimeDelta.milliseconds(80)
  /// A queue stands when none of so many packets found it empty: with fewer, one who sends little would take the peaks that
  /// others cause for a queue that stands.
  static let measuredPackets = 8
  /// A packet that waited for longer came right behind the one before it: between them the path was never idle.
  static let busyAbove = TimeDelta.milliseconds(8)
  /// A picture leaves faster than the rate; what then comes is the path's capacity as well, up to so many times the rate.
  private static let largestBurst = 2.0
  /// How long draining should take.
  private static let drainTime = 0.4
  /// The bounds of the sent rate meanwhile, as a share of the delivered rate.
  private static let share = 0.45...0.8
  private static let patience = TimeDelta.milliseconds(500)

  private struct Drain {
    var began: Timestamp
    /// The queue at the beginning, seconds.
    var queue: Double
    /// Bits per second that the path delivers.
    var capacity: Double
    var deadline: Timestamp
  }

  private var drain: Drain?

  var isDraining: Bool { drain != nil }

  /// The input from feedback.
  struct Input {
    /// The shortest of the newest packets' queueing delays.
    var queue: TimeDelta
    /// The newest packets that waited for one another.
    var busy: RecentArrivals.Run
    /// When the newest packet that arrived had left.
    var newestSent: Timestamp
    /// Bits per second, before.
    var rate: Double
    var isApplicationLimited: Bool
    var roundTrip: TimeDelta
    var now: Timestamp
  }

  mutating func update(_ input: Input) -> Action {
    guard var drain else { return begin(input, most: input.rate * Self.largestBurst) }
    guard input.queue >= Self.drainedBelow else {
      self.drain = nil
      return .drained(capacity: drain.capacity)
    }
    if input.newestSent <= drain.began, input.busy.arrivalSpan >= Self.measuringTime {
      // All these packets were sent at the old rate, so their arrival rate is the path's capacity; newer values are
      // more accurate.
      drain.capacity = min(drain.capacity, input.busy.arrivalRate)
    }
    self.drain = drain
    if input.now > drain.deadline {
      self.drain = nil
      let isSlower = input.busy.arrivalRate < 0.9 * input.busy.sendRate
      if !isSlower, input.queue.seconds > 0.6 * drain.queue { return .acceptDelay }
      // Not by the sent rate meanwhile, which was low on purpose.
      return begin(input, most: drain.capacity)
    }
    return .drain(min(input.rate, drain.capacity * share(input.queue)))
  }

  private mutating func begin(_ input: Input, most: Double) -> Action {
    let busy = input.busy
    guard input.queue > Self.threshold, busy.arrivalSpan >= Self.measuringTime else { return .none }
    var capacity = min(busy.deliveryRate, most)
    let isSlower = busy.arrivalRate < 0.9 * busy.sendRate
    if input.isApplicationLimited, !isSlower {
      // All packets arrived at the rate of sending: another sender fills the queue.
      capacity = max(capacity, 0.85 * min(most, input.rate))
    }
    let queue = input.queue.seconds
    let time = TimeDelta.seconds(2 * queue / (1 - share(input.queue)))
    drain = Drain(
      began: input.now, queue: queue, capacity: capacity,
      deadline: input.now + min(time, .seconds(4)) + input.roundTrip + Self.patience)
    return .drain(min(input.rate, capacity * share(input.queue)))
  }

  private func share(_ queue: TimeDelta) -> Double {
    max(Self.share.lowerBound, min(Self.share.upperBound, 1 - queue.seconds / Self.drainTime))
  }

  mutating func reset() { drain = nil }
}
