public import RTCPrimitives

/// Decides when a screen is grabbed: at once if something changed and the frame interval allows it, else exactly when
/// it does, and never without a change.
///
/// Two refinements keep a picture up to date. *Settling*: an application paints one picture in several requests, so a
/// grab waits for a moment of quiet. *Locking on*: if content changes at a steady rhythm, the moment allowed by the
/// frame interval is anywhere between two changes, and every picture would be up to one period old; if the next change
/// is predicted soon, the grab waits for it, and later grabs coincide with changes by themselves.
///
/// A pure value that reads no clock. Report events to it, and ask it for `nextGrab`.
public struct FrameClock: Sendable {
  /// Rates and tolerances.
  public struct Settings: Sendable {
    /// The highest rate of grabs in the long run, a second; above 0.
    public var framesPerSecond: Double
    /// A picture counts as painted when nothing changed for this long.
    public var settleQuiet = TimeDelta.milliseconds(1)
    /// … but a grab never waits longer than this for quiet.
    public var settleLimit = TimeDelta.milliseconds(3)
    /// Changes closer together than this belong to one picture; also the age up to which a picture counts as new.
    public var burstGap = TimeDelta.milliseconds(5)
    /// The longest wait for a predicted change; see `FrameClock`.
    public var longestWait = TimeDelta.milliseconds(120)

    /// The default tolerances, at this rate.
    public init(framesPerSecond: Double) { self.framesPerSecond = framesPerSecond }
  }

  private let settings: Settings
  private let interval: TimeDelta
  /// A grab may be this much early, so that jitter does not push it to the next change. The debt is paid by the next.
  private let tolerance: TimeDelta
  /// When the next grab is due; nil before the first.
  private var due: Timestamp?
  private var pending: Burst?
  private var rhythm = ChangeRhythm()

  /// One picture being painted: its first and its newest change.
  private struct Burst {
    var start: Timestamp
    var end: Timestamp
  }

  /// Makes a clock without pending changes. The rate must be above 0.
  public init(_ settings: Settings) {
    precondition(settings.framesPerSecond > 0, "A frame clock needs a rate above 0.")
    self.settings = settings
    interval = .seconds(1 / settings.framesPerSecond)
    tolerance = interval / 20
  }

  /// Something changed on the screen. `isPeriodic` is false for what says nothing about the content's rhythm (the
  /// pointer).
  public mutating func noteChange(at now: Timestamp, isPeriodic: Bool = true) {
    if isPeriodic { rhythm.note(at: now, gap: settings.burstGap) }
    guard let burst = pending, now - burst.end <= settings.burstGap else {
      pending = Burst(start: now, end: now)
      return
    }
    pending = Burst(start: burst.start, end: now)
  }

  /// The whole picture is wanted as soon as the interval allows, with no waiting for quiet (first picture, resize).
  public mutating func noteDemand(at now: Timestamp) {
    let past = now - settings.settleLimit
    pending = Burst(start: past, end: past)
    rhythm.reset()
  }

  /// A picture was grabbed at `now`.
  public mutating func noteGrab(at now: Timestamp) {
    if let burst = pending, let expected = rhythm.nextChange(after: burst.start), expected + rhythm.margin < now {
      rhythm.reset()
    }
    due = nextDue(after: now)
    pending = nil
  }

  /// There was nothing to grab (the change was outside the region shown).
  public mutating func noteNothingToGrab() { pending = nil }

  /// When to grab, or nil while nothing is pending. In the past means now.
  public var nextGrab: Timestamp? {
    guard let burst = pending else { return nil }
    let settled = min(burst.end + settings.settleQuiet, burst.start + settings.settleLimit)
    let ready = due.map { max($0 - tolerance, settled) } ?? settled
    guard ready - burst.start > settings.burstGap, let expected = rhythm.nextChange(after: ready) else { return ready }
    guard expected - ready <= waitLimit else { return ready }
    return expected + rhythm.margin
  }

  /// Slightly late grabs do not shift the grid of due times: otherwise one late grab would delay all that follow, as
  /// content has its own rhythm.
  private func nextDue(after now: Timestamp) -> Timestamp {
    guard let due, now - due <= interval / 8 else { return now + interval }
    return due + interval
  }

  /// How long a grab may wait for the predicted change: a quarter of the interval at any time; a whole period of the
  /// content when being locked on costs no more than a quarter of the rate afterwards, and falling out of step and
  /// waiting again no more than a tenth.
  private var waitLimit: TimeDelta {
    let quarter = min(interval / 4, settings.longestWait)
    guard let period = rhythm.period else { return quarter }
    let shortest = interval - tolerance
    let periods = (shortest.nanoseconds + period.nanoseconds - 1) / period.nanoseconds
    let lockedCost = period * periods - interval
    guard lockedCost <= interval / 4 else { return quarter }
    // Content a little faster than the clock gets ahead by this much a frame until it is out of step.
    let drift = max(0, -lockedCost.seconds)
    let slack = (settings.burstGap + tolerance).seconds
    guard drift * period.seconds * 10 <= slack * interval.seconds else { return quarter }
    return max(quarter, min(period, settings.longestWait))
  }
}

/// The estimated period of changes: the median of the last few intervals, trusted only while most of them agree.
private struct ChangeRhythm {
  private static let memory = 7
  private static let shortestPeriod = TimeDelta.milliseconds(8)
  private static let longestPeriod = TimeDelta.milliseconds(500)

  private var lastStart: Timestamp?
  private var lastChange: Timestamp?
  private var distances: [TimeDelta] = []
  /// Nil while content keeps no rhythm.
  private(set) var period: TimeDelta?

  /// How late the predicted change may come. Generous: it costs nothing while predictions hold, and grabbing just
  /// before a late change would show a picture a whole period old.
  var margin: TimeDelta { max(.milliseconds(3), min((period ?? .zero) / 4, .milliseconds(30))) }

  mutating func note(at now: Timestamp, gap: TimeDelta) {
    defer { lastChange = now }
    if let lastChange, now - lastChange <= gap { return }
    if let lastStart { append(now - lastStart) }
    lastStart = now
  }

  mutating func reset() {
    distances.removeAll(keepingCapacity: true)
    period = nil
  }

  /// The first change after `moment` that the rhythm predicts.
  func nextChange(after moment: Timestamp) -> Timestamp? {
    guard let period, let lastStart, moment >= lastStart else { return nil }
    let passed = (moment - lastStart).nanoseconds / period.nanoseconds
    // Content that missed two beats keeps no rhythm any more.
    return passed < 2 ? lastStart + period * (passed + 1) : nil
  }

  private mutating func append(_ distance: TimeDelta) {
    if distance > Self.longestPeriod { return reset() }
    if distances.count == Self.memory { distances.removeFirst() }
    distances.append(distance)
    period = trustedMedian()
  }

  private func trustedMedian() -> TimeDelta? {
    guard distances.count >= 3 else { return nil }
    let median = distances.sorted()[distances.count / 2]
    guard median >= Self.shortestPeriod else { return nil }
    let agreeing = distances.count { abs(($0 - median).nanoseconds) <= median.nanoseconds / 5 }
    return agreeing * 4 >= distances.count * 3 ? median : nil
  }
}
