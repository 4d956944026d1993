import RTCPrimitives

/// Decides when to send a probe, and at which rate.
///
/// Three probes are sent at the start. A successful probe is followed by one of twice its rate. While media is sent and
/// no queue stands, a small one every second or two finds within seconds that a path has become wider.
struct ProbeController {
  private static let startFactors = [3.0, 6.0]
  private static let nextFactor = 2.0
  /// The regular probe is gentler and longer: as long as a picture's interval, so that it meets the packets of others too.
  private static let regularFactor = 1.5
  private static let (shortTime, regularTime) = (TimeDelta.milliseconds(15), TimeDelta.milliseconds(30))
  private static let interval = TimeDelta.milliseconds(1_000)
  /// After probes that were not met, the next wait longer, up to this.
  private static let longestInterval = TimeDelta.milliseconds(2_000)
  private static let applicationLimitedInterval = TimeDelta.seconds(5)
  /// A probe that could not be read is sent again at once, so often in a row.
  private static let repeats = 2
  /// Less than this is not worth a probe, of the target.
  private static let leastGain = 1.15

  private var nextID: UInt16 = 0
  private var waiting: [ProbeCluster] = []
  private var nextRegular = Timestamp.zero
  private var interval = Self.interval
  private var lastRequested = 0.0
  /// Probes that the path bore, one after another.
  private(set) var roomInARow = 0
  private var lastProbeBytes = 0
  private var repeatsLeft = Self.repeats

  /// Probes from the beginning of a path.
  mutating func start(rate: Double, maximum: Double, now: Timestamp) {
    waiting.removeAll(keepingCapacity: true)
    roomInARow = 1
    var last = rate
    for factor in Self.startFactors where last < maximum {
      last = min(rate * factor, maximum)
      if last >= rate * Self.leastGain { request(last, now: now) }
    }
    nextRegular = now + Self.interval
  }

  /// The input of the decision.
  struct Input {
    /// Bits per second.
    var target: Double
    var maximum: Double
    /// The last moments saw packets, no queue and no loss by congestion.
    var isCalm: Bool
    var isApplicationLimited: Bool
    var now: Timestamp
  }

  /// Asks for the regular probe when its time has come.
  mutating func update(_ input: Input) {
    guard input.isCalm, input.now >= nextRegular, waiting.isEmpty else { return }
    let rate = min(input.target * Self.regularFactor, input.maximum)
    guard rate >= input.target * Self.leastGain else { return }
    request(rate, Self.regularTime, now: input.now)
    nextRegular = input.now + (input.isApplicationLimited ? Self.applicationLimitedInterval : interval)
  }

  /// Asks for a probe at `rate` at once: what filled the path has gone.
  mutating func recover(_ rate: Double, now: Timestamp) {
    waiting.removeAll(keepingCapacity: true)
    roomInARow = 0
    request(rate, now: now)
  }

  /// The outcome of a probe.
  struct Outcome {
    var result: ProbeEstimator.Result
    /// Bits per second, before the probe and because of it.
    var before: Double
    var after: Double
    var maximum: Double
    /// The path was full lately.
    var isNearCapacity: Bool
    var now: Timestamp
  }

  /// Whether a probe has shown clearly more bandwidth.
  static func showsRoom(_ result: ProbeEstimator.Result, over rate: Double) -> Bool {
    result.rate >= Self.leastGain * rate
  }

  /// Counts a probe that showed room, before its outcome is known.
  mutating func count(showsRoom: Bool) { roomInARow = showsRoom ? roomInARow + 1 : 0 }

  /// Asks for a probe again that arrived in a way that says nothing.
  mutating func `repeat`(_ probe: ProbeCluster, now: Timestamp) {
    guard repeatsLeft > 0, waiting.isEmpty else { return }
    repeatsLeft -= 1
    request(Double(probe.rate.bitsPerSecond), Self.regularTime, now: now)
  }

  /// Takes the outcome of a probe: one that showed more bandwidth is followed by the next.
  mutating func take(_ outcome: Outcome) {
    repeatsLeft = Self.repeats
    guard roomInARow > 0 else {
      interval = min(interval * 3 / 2, Self.longestInterval)
      return
    }
    interval = Self.interval
    guard Double(outcome.result.cluster.rate.bitsPerSecond) >= lastRequested else { return }
    var next = min((outcome.isNearCapacity ? outcome.after : outcome.result.rate) * Self.nextFactor, outcome.maximum)
    if outcome.result.isSaturated { next = min(next, outcome.result.rate) }
    guard next >= Self.leastGain * outcome.after else { return }
    request(next, outcome.isNearCapacity ? Self.regularTime : Self.shortTime, now: outcome.now)
  }

  /// The path is full: no probes for a while.
  mutating func pause(_ now: Timestamp) {
    waiting.removeAll(keepingCapacity: true)
    lastRequested = 0
    roomInARow = 0
    nextRegular = max(nextRegular, now + interval)
  }

  private mutating func request(_ rate: Double, _ duration: TimeDelta = Self.shortTime, now: Timestamp) {
    let probe = ProbeCluster(id: nextID, rate: BitRate(rate), duration: duration)
    waiting.append(probe)
    lastProbeBytes = max(probe.minimumBytes, probe.minimumPackets * 1_200)
    nextID &+= 1
    lastRequested = Double(probe.rate.bitsPerSecond)
    nextRegular = max(nextRegular, now + interval)
  }

  /// Bytes that the last probe may have on its way beside all else.
  var window: Int { lastProbeBytes }

  mutating func take() -> ProbeCluster? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
