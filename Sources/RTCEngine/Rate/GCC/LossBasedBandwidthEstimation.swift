import RTCPrimitives

/// The rate that loss allows. Loss that does not depend on the rate (a bad radio link) belongs to the path, and is no
/// reason to send less. Loss with a queue, or loss that ends when less is sent, is congestion.
///
/// Packets are counted by their send time, in observations of at least 250 ms and twenty packets. An observation with
/// more loss than the path's own, but no queue, starts a test: less is sent for a moment. If the loss stays, it is the
/// path's own from then on, and the rate is restored. If it ends, the lower rate is kept for a while.
struct LossBasedBandwidthEstimation {
  /// The result of one evaluation.
  enum Change { case none, decreased, restored }

  private static let observationTime = TimeDelta.milliseconds(250)
  private static let leastPackets = 20
  /// The number of packets that a test needs to exclude chance.
  private static let testedPackets = 60
  /// Feedback speaks of packets as lost that come late; so long is waited for them.
  static let lateness = TimeDelta.milliseconds(100)
  /// Loss beyond the path's own that is no event yet.
  private static let margin = 0.05
  /// The tolerance for chance, in standard deviations.
  private static let deviations = 4.0
  /// The share of the excess loss that must remain after less is sent, for loss to be the path's own.
  private static let remaining = 0.35
  /// More is never the path's own.
  private static let maximumInherent = 0.3
  private static let smoothing = 0.05
  /// The number of consecutive lost packets that count as a gap.
  private static let gap = 6
  private static let testShare = 0.85
  private static let congestionShare = 0.95
  private static let increase = 1.02
  /// After a hold without excessive loss for this time, the limit is removed.
  private static let release = TimeDelta.seconds(5)
  private static let holdTimes = (first: TimeDelta.milliseconds(300), last: TimeDelta.seconds(60))

  /// Packets that left within some time.
  private struct Observation {
    var start = Timestamp.zero
    var end = Timestamp.zero
    var packets = 0
    var lost = 0
    /// A queue stood, or grew, while it lasted.
    var isCongested = false
    /// A queue was being drained meanwhile.
    var wasDrained = false

    /// Packets lost one after another, until now and at most.
    var run = 0
    var longestRun = 0

    var loss: Double { packets > 0 ? Double(max(0, lost)) / Double(packets) : 0 }

    /// The loss without one gap, in which the path was interrupted: that is independent of its rate.
    var lossBesideGap: Double {
      guard longestRun >= LossBasedBandwidthEstimation.gap, packets > longestRun else { return loss }
      return Double(max(0, lost - longestRun)) / Double(packets - longestRun)
    }

    mutating func add(sent: Timestamp, isLost: Bool) {
      end = max(end, sent)
      packets += 1
      lost += isLost ? 1 : 0
      run = isLost ? run + 1 : 0
      longestRun = max(longestRun, run)
    }
  }

  private struct Test {
    /// The rate before, and the loss that it met.
    var rate: Double
    var loss: Double
    var began: Timestamp
  }

  /// Bits per second; nil: loss allows anything.
  private(set) var limit: Double?
  /// The path's own loss, 0…1.
  private(set) var inherent = 0.0
  /// The most of it, as a test showed: it does not creep beyond.
  private var established = 0.0
  /// The loss of the last observation.
  private(set) var loss = 0.0
  private var current: Observation?
  private var finished: Observation?
  private var test: Test?
  private var excessiveInARow = 0
  private var hold = Self.holdTimes.first
  private var heldUntil = Timestamp.zero

  // MARK: - What feedback says

  /// Takes the fate of one packet.
  mutating func add(_ result: PacketResult) {
    let sent = result.packet.sendTime
    if result.wasReportedLost {
      if result.arrival != nil { takeBack(sent) }
      return
    }
    if let observation = current, sent - observation.start >= Self.observationTime,
      observation.packets >= (test == nil ? Self.leastPackets : Self.testedPackets), finished == nil
    {
      finished = observation
      current = nil
    }
    var observation = current ?? Observation(start: sent, end: sent)
    observation.add(sent: sent, isLost: result.arrival == nil)
    current = observation
  }

  /// A packet that was reported lost came late.
  private mutating func takeBack(_ sent: Timestamp) {
    if let observation = current, sent >= observation.start {
      current?.lost -= 1
    } else if let observation = finished, sent >= observation.start, sent <= observation.end {
      finished?.lost -= 1
    }
  }

  /// The input besides loss.
  struct Input {
    /// A queue stands or grows.
    var isCongested: Bool
    /// Whether a standing queue is being drained: the sent rate then follows from the delivered one.
    var isDraining: Bool
    /// Bits per second: what all together allow.
    var target: Double
    /// Bits per second that arrived lately.
    var acknowledged: Double?
    /// When the newest packet that feedback speaks of left.
    var newestSent: Timestamp
    var now: Timestamp
  }

  /// Evaluates an observation after late packets had time to arrive.
  /// - Returns: the change; `restored` with the rate to return to in `limit`, once.
  mutating func update(_ input: Input) -> (change: Change, restored: Double?) {
    note(&current, input)
    note(&finished, input)
    guard let observation = finished, input.newestSent - observation.end >= Self.lateness else { return (.none, nil) }
    finished = nil
    loss = observation.loss
    return evaluate(observation, input)
  }

  private func note(_ observation: inout Observation?, _ input: Input) {
    if input.isCongested { observation?.isCongested = true }
    if input.isDraining { observation?.wasDrained = true }
  }

  private mutating func evaluate(_ observation: Observation, _ input: Input) -> (change: Change, restored: Double?) {
    if let test {
      if observation.isCongested {
        self.test = nil
      } else if observation.start < test.began {
        return (.none, nil)
      } else {
        return conclude(test, observation, input)
      }
    }
    let isExcessive = observation.lossBesideGap > inherent + excess(observation)
    if isExcessive, observation.isCongested {
      if input.isDraining || observation.wasDrained { return (.none, nil) }
      return (decrease(to: min(input.target, (input.acknowledged ?? input.target) * Self.congestionShare), input), nil)
    }
    excessiveInARow = isExcessive ? excessiveInARow + 1 : 0
    if isExcessive {
      guard excessiveInARow > 1 else { return (.none, nil) }
      test = Test(rate: input.target, loss: observation.lossBesideGap, began: input.now)
      limit = input.target * min(Self.testShare, 1 - observation.lossBesideGap)
      return (.decreased, nil)
    }
    inherent = min(established, inherent + Self.smoothing * (observation.lossBesideGap - inherent))
    grow(input)
    return (.none, nil)
  }

  /// The loss beyond the path's own that chance may bring to so few packets.
  private func excess(_ observation: Observation) -> Double {
    let variance = max(inherent, 0.01) * (1 - inherent) / Double(observation.packets)
    return max(Self.margin, Self.deviations * variance.squareRoot())
  }

  /// Less was sent; did less get lost?
  private mutating func conclude(
    _ test: Test, _ observation: Observation, _ input: Input
  ) -> (change: Change, restored: Double?) {
    self.test = nil
    let isInherent =
      observation.lossBesideGap > inherent + Self.remaining * (test.loss - inherent)
      && observation.loss <= Self.maximumInherent
    guard isInherent else { return (decrease(to: limit ?? input.target, input), nil) }
    inherent = min(Self.maximumInherent, (test.loss + observation.loss) / 2)
    established = inherent
    limit = nil
    return (.restored, test.rate)
  }

  private mutating func decrease(to rate: Double, _ input: Input) -> Change {
    limit = rate
    heldUntil = input.now + hold
    hold = min(hold * 2, Self.holdTimes.last)
    return .decreased
  }

  private mutating func grow(_ input: Input) {
    guard let limit, input.now >= heldUntil else { return }
    if input.now - heldUntil > Self.release {
      self.limit = nil
      hold = Self.holdTimes.first
    } else {
      self.limit = limit * Self.increase
    }
  }

  /// True while a test, or what loss allows, keeps the rate down.
  func isLimiting(_ rate: Double) -> Bool { limit.map { $0 <= rate } ?? false }

  /// True while it is too early to try more.
  func isHolding(_ now: Timestamp) -> Bool { test != nil || (limit != nil && now < heldUntil) }

  /// Raises the limit to the result of a probe.
  mutating func raise(to rate: Double) {
    guard let limit, test == nil, rate > limit else { return }
    self.limit = rate
  }

  mutating func reset() { self = LossBasedBandwidthEstimation() }
}
