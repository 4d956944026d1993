package import RTCPrimitives

/// The times at which a waiting capturer looks for its source, sans-IO.
///
/// While nothing is there, it looks at a slow pace, since a look is cheap and changes are reported. A source that is there and
/// refuses is tried soon, as it may only just begin, and then less and less often.
package struct CaptureWait: Sendable {
  /// The interval between two looks while there is nothing.
  package static let idleInterval = TimeDelta.seconds(2)
  /// The delay of a look after a change was reported.
  package static let changeDelay = TimeDelta.milliseconds(20)
  /// The least interval between two attempts, however many changes are reported.
  package static let leastInterval = TimeDelta.milliseconds(100)
  /// A source that ran as long is tried at once after its end.
  package static let goodRun = TimeDelta.seconds(2)
  /// The delays after attempts that failed one after another; the last one holds from then on.
  package static let retries: [TimeDelta] = [50, 100, 200, 400, 800, 1_600, 3_000, 5_000].map { .milliseconds($0) }

  package enum Step: Hashable, Sendable {
    case look
    /// Nothing is to be done before that time; nil: before something happens.
    case wait(until: Timestamp?)
  }

  private enum Phase {
    case waiting(until: Timestamp)
    /// The time of the start; nil while the source has not answered.
    case running(since: Timestamp?)
  }

  private var phase: Phase
  /// The attempts that failed one after another.
  private var failures = 0
  private var lastAttempt: Timestamp?

  /// Begins with a look.
  package init(now: Timestamp) { phase = .waiting(until: now) }

  package func next(now: Timestamp) -> Step {
    guard case .waiting(let due) = phase else { return .wait(until: nil) }
    return due <= now ? .look : .wait(until: due)
  }

  /// There was nothing to capture.
  package mutating func foundNothing(now: Timestamp) {
    failures = 0
    phase = .waiting(until: now + Self.idleInterval)
  }

  /// A source is being started.
  package mutating func began(now: Timestamp) {
    lastAttempt = now
    phase = .running(since: nil)
  }

  package mutating func started(now: Timestamp) {
    if case .running(nil) = phase { phase = .running(since: now) }
  }

  /// The source could not be started, or ended.
  package mutating func ended(now: Timestamp) {
    guard case .running(let since) = phase else { return }
    if let since, now - since >= Self.goodRun { failures = 0 }
    phase = .waiting(until: now + Self.retries[min(failures, Self.retries.count - 1)])
    failures += 1
  }

  /// A change was reported: a source may have appeared.
  package mutating func surroundingsChanged(now: Timestamp) {
    guard case .waiting(let due) = phase else { return }
    failures = 0
    let earliest = lastAttempt.map { $0 + Self.leastInterval } ?? now
    phase = .waiting(until: min(due, max(now + Self.changeDelay, earliest)))
  }
}
