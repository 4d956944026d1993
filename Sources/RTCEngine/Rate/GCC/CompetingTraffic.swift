import RTCPrimitives

/// Keeps a share of a path beside traffic that fills its queue, such as TCP.
///
/// A sender that empties every standing queue gives its whole share to a sender that fills the queue again. So while the
/// queue does not depend on our rate, the rate follows loss instead: it grows by some packets a second, and falls when a
/// packet is lost while the queue is full. It ends as soon as the queue is gone, and is tested every few seconds by
/// sending less: a queue that then disappears was ours.
struct CompetingTraffic {
  /// The change that the owner of the rate is to make.
  enum Action {
    case none
    /// Send at so many bits per second.
    case rate(Double, isIncrease: Bool)
    /// The queue is gone; the rate before the competition, in bits per second.
    case ended(Double)
    /// The queue may be ours by now: drain it.
    case test
    /// The delay does not change: the path has become longer.
    case longerPath
  }

  /// A queue that was accepted as the path's delay is still looked at for this time, and so is other traffic that was
  /// there.
  private static let memory = TimeDelta.seconds(10)
  /// A shorter queue, or one that stands for less time, may be that of other senders of this kind.
  private static let leastQueue = TimeDelta.milliseconds(80)
  private static let leastTime = TimeDelta.milliseconds(800)
  /// A queue that stood while less was sent is tested again after this time.
  private static let testInterval = TimeDelta.seconds(10)
  /// A queue that other traffic fills and leaves to drain changes by more than this, over this time.
  private static let (constancy, constancyTime) = (TimeDelta.milliseconds(15), TimeDelta.seconds(3))
  /// No growth above this queue: the other traffic alone makes it longer.
  private static let longestQueue = TimeDelta.milliseconds(400)
  /// The queue is full above this share of its recent maximum: loss is then congestion.
  private static let fullShare = 0.7
  /// A shared path has at least one other sender, so the first goal is half the rate before.
  private static let firstShare = 0.5
  /// The growth below the first goal, a second, and above it, in bits per second each second.
  private static let (returning, additive) = (0.5, 48_000.0)
  private static let decrease = 0.8
  /// The share of the rate that is kept over a test.
  private static let kept = 0.9
  /// The rate grows by at most this factor of what arrives.
  private static let headroom = 1.5
  private static let headroomOffset = 10_000.0
  private static let responseTime = TimeDelta.milliseconds(100)

  private struct Competition {
    /// Bits per second before the queue stood.
    var before: Double
    var tested: Timestamp
    var longestQueue: TimeDelta
    var shortestQueue: TimeDelta
    var updated: Timestamp
    var decreased = Timestamp.zero
    /// The first packet of the present row that found no queue.
    var emptySince: Timestamp?
  }

  private var competition: Competition?
  /// When other traffic was last there.
  private var seen: Timestamp?
  /// The rate that a test interrupted, in bits per second.
  private var tested: Double?
  /// The transit time without a queue, before a queue was accepted as delay of the path.
  private var base: QueueingDelay.Base?
  private var accepted = Timestamp.zero
  /// Bits per second before the queue became long.
  private var rateBefore = 0.0
  /// Since when the queue has been long.
  private var longSince: Timestamp?

  var isOn: Bool { competition != nil }

  /// The transit time without a queue.
  mutating func base(_ base: QueueingDelay.Base, _ now: Timestamp) -> QueueingDelay.Base {
    guard let earlier = self.base, competition != nil || now - accepted < Self.memory, earlier.transit < base.transit
    else {
      self.base = nil
      return base
    }
    return earlier
  }

  /// A queue is accepted as delay of the path.
  mutating func accept(before base: QueueingDelay.Base, now: Timestamp) {
    self.base = self.base ?? base
    accepted = now
  }

  /// Takes the present queue, whatever was accepted.
  /// - Parameter rate: bits per second before the present drain, or now.
  mutating func note(queue: TimeDelta, rate: Double, now: Timestamp) {
    if longSince == nil { rateBefore = rate }
    longSince = queue >= Self.leastQueue ? longSince ?? now : nil
  }

  /// Whether other traffic may hold the queue.
  func isLikely(_ now: Timestamp) -> Bool {
    if let seen, now - seen < Self.memory { return true }
    return longSince.map { now - $0 >= Self.leastTime } ?? false
  }

  /// Takes a drain that did not shorten a queue of others.
  /// - Parameter present: bits per second now.
  /// - Returns: the rate to go on with, if this is other traffic.
  mutating func begin(present: Double, queue: TimeDelta, now: Timestamp) -> Double? {
    guard isLikely(now) else { return nil }
    seen = now
    competition = Competition(
      before: rateBefore, tested: now, longestQueue: queue, shortestQueue: queue, updated: now)
    defer { tested = nil }
    return max(present, tested.map { Self.kept * $0 } ?? present)
  }

  /// The input from feedback.
  struct Input {
    /// The shortest of the newest packets' queueing delays.
    var queue: TimeDelta
    /// Bits per second.
    var rate: Double
    var acknowledged: Double?
    /// Packets that this feedback reports as lost.
    var lost: Int
    var isApplicationLimited: Bool
    var roundTrip: TimeDelta
    var now: Timestamp
  }

  mutating func update(_ input: Input) -> Action {
    guard var state = competition else { return .none }
    defer { if competition != nil { competition = state } }
    if input.queue < StandingQueueGuard.drainedBelow {
      let since = state.emptySince ?? input.now
      state.emptySince = since
      if input.now - since >= input.roundTrip {
        competition = nil
        seen = input.now
        return .ended(state.before)
      }
    } else {
      state.emptySince = nil
    }
    if input.now - state.tested >= Self.testInterval {
      seen = input.now
      tested = input.rate
      competition = nil
      return .test
    }
    state.longestQueue = max(state.longestQueue, input.queue)
    state.shortestQueue = min(state.shortestQueue, input.queue)
    if input.now - state.tested >= Self.constancyTime, state.longestQueue - state.shortestQueue < Self.constancy {
      (competition, seen, longSince) = (nil, nil, nil)
      return .longerPath
    }
    let elapsed = min((input.now - state.updated).seconds, 1)
    state.updated = input.now
    if input.lost > 0, input.queue.seconds > Self.fullShare * state.longestQueue.seconds {
      guard input.now - state.decreased > input.roundTrip + Self.responseTime else { return .none }
      state.decreased = input.now
      return .rate(input.rate * Self.decrease, isIncrease: false)
    }
    guard !input.isApplicationLimited, input.queue < Self.longestQueue, let acknowledged = input.acknowledged else {
      return .none
    }
    let isReturning = input.rate < Self.firstShare * state.before
    let step = isReturning ? max(Self.additive, input.rate * Self.returning) : Self.additive
    let limit = acknowledged * Self.headroom + Self.headroomOffset
    let new = max(input.rate, min(input.rate + step * elapsed, limit))
    return new > input.rate ? .rate(new, isIncrease: true) : .none
  }

  mutating func reset() { self = CompetingTraffic() }
}
