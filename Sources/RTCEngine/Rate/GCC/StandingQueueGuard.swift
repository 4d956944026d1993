import RTCPrimitives

/// Drains standing queues of any cause: sends less than the path delivers until the queue is gone, then continues just
/// below the delivered rate. It needs no history of trends, so that the first packets after a pause suffice.
struct StandingQueueGuard {
  /// The action to take.
  enum Action {
    case none
    /// Send at so many bits per second while the queue drains.
    case drain(Double)
    /// The queue is gone; the path delivered so many bits per second while it stood. The rate was so many before, and
    /// the queue was at most so long.
    case drained(capacity: Double, rateBefore: Double, longestQueue: TimeDelta)
    /// The queue stays although little is sent: it is none of ours, or the path itself has become longer. In a
    /// foreign queue, less arrives when less is sent.
    case stays(isForeign: Bool)
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
  /// The share of the queue above which it counts as unchanged, when half of a queue of our own would be gone.
  private static let unchanged = 0.8
  private static let patience = TimeDelta.milliseconds(500)

  private struct Drain {
    var began: Timestamp
    /// The queue at the beginning, seconds.
    var queue: Double
    var longestQueue: TimeDelta
    /// Bits per second that the path delivers.
    var capacity: Double
    /// Bits per second before the drain.
    var rateBefore: Double
    var deadline: Timestamp
    /// A packet that leaves then finds half of the queue, if that is ours.
    var half: Timestamp
  }

  private var drain: Drain?

  var isDraining: Bool { drain != nil }
  /// Bits per second before the present drain; nil while there is none.
  var rateBefore: Double? { drain?.rateBefore }

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
    /// Other traffic held a queue lately.
    var hasCompetition: Bool
    var roundTrip: TimeDelta
    var now: Timestamp
  }

  mutating func update(_ input: Input) -> Action {
    guard var drain else { return begin(input, most: input.rate * Self.largestBurst, rateBefore: input.rate) }
    guard input.queue >= Self.drainedBelow else {
      self.drain = nil
      return .drained(capacity: drain.capacity, rateBefore: drain.rateBefore, longestQueue: drain.longestQueue)
    }
    if input.newestSent <= drain.began, input.busy.arrivalSpan >= Self.measuringTime {
      // All these packets were sent at the old rate, so their arrival rate is the path's capacity; newer values are
      // more accurate.
      drain.capacity = min(drain.capacity, input.busy.arrivalRate)
    }
    drain.longestQueue = max(drain.longestQueue, input.queue)
    self.drain = drain
    if input.hasCompetition, input.newestSent > drain.half,
      input.queue.seconds > Self.unchanged * drain.queue, isForeign(input, drain)
    {
      self.drain = nil
      return .stays(isForeign: true)
    }
    if input.now > drain.deadline {
      self.drain = nil
      let isSlower = input.busy.arrivalRate < 0.9 * input.busy.sendRate
      if !isSlower, input.queue.seconds > 0.6 * drain.queue { return .stays(isForeign: isForeign(input, drain)) }
      // Not by the sent rate meanwhile, which was low on purpose.
      return begin(input, most: drain.capacity, rateBefore: drain.rateBefore)
    }
    return .drain(min(input.rate, drain.capacity * share(input.queue)))
  }

  /// Packets behind one another in a queue of our own arrive at the path's rate, whatever is sent meanwhile.
  private func isForeign(_ input: Input, _ drain: Drain) -> Bool {
    input.busy.arrivalRate >= 0.9 * input.busy.sendRate && input.busy.arrivalRate < 0.9 * drain.capacity
  }

  private mutating func begin(_ input: Input, most: Double, rateBefore: Double) -> Action {
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
    let half = TimeDelta.seconds(queue / 2 / (1 - share(input.queue)))
    drain = Drain(
      began: input.now, queue: queue, longestQueue: input.queue, capacity: capacity, rateBefore: rateBefore,
      deadline: input.now + min(time, .seconds(4)) + input.roundTrip + Self.patience,
      half: input.now + min(half, .seconds(1)))
    return .drain(min(input.rate, capacity * share(input.queue)))
  }

  private func share(_ queue: TimeDelta) -> Double {
    max(Self.share.lowerBound, min(Self.share.upperBound, 1 - queue.seconds / Self.drainTime))
  }

  mutating func reset() { drain = nil }
}
