package import RTCEngine
package import RTCPrimitives

/// Replays one connection's part of a rate log to a new estimator and compares the decisions.
package struct RateLogReplay: Sendable {
  /// A difference between the log and the new estimator.
  package struct Difference: Hashable, Sendable {
    /// The line of the log, from 1.
    package var line: Int
    /// Nil: the log has no decision there.
    package var recorded: RateLogEntry?
    /// Nil: the new estimator decides nothing there.
    package var replayed: RateLogEntry?
  }

  package let algorithm: RateControlAlgorithm
  package private(set) var inputs = 0
  package private(set) var decisions = 0
  /// The first; nothing is compared after it.
  package private(set) var difference: Difference?

  private var estimator: any BandwidthEstimator
  private let origin: TimeDelta
  private var lastEstimate: NetworkEstimate?
  /// Decisions of the new estimator that the log must have next.
  private var expected: [RateLogEntry] = []
  private var nextExpected = 0

  /// - Parameter origin: as in the log, in seconds.
  package init(_ algorithm: RateControlAlgorithm, _ limits: BitrateLimits, origin: Int64) {
    self.init(algorithm, origin: origin, estimator: algorithm.makeEstimator(limits))
  }

  /// - Parameter estimator: as new.
  package init(_ algorithm: RateControlAlgorithm, origin: Int64 = 0, estimator: any BandwidthEstimator) {
    self.algorithm = algorithm
    self.origin = .seconds(origin)
    self.estimator = estimator
  }

  /// Plays the next entry of the connection.
  /// - Parameters:
  ///   - time: as in the log.
  ///   - line: where it stands there.
  package mutating func take(_ entry: RateLogEntry, at time: Timestamp, line: Int) {
    guard difference == nil else { return }
    switch entry {
    case .estimate, .probe: compare(entry, line: line)
    case .started, .feedback, .loss, .roundTrip, .remoteMaximum, .limits, .routeChanged, .deadline:
      end(line: line)
      guard difference == nil else { return }
      inputs += 1
      play(entry.moved(by: origin), now: time + origin)
    }
  }

  /// Ends the replay: the log must have contained all decisions.
  package mutating func end(line: Int) {
    if difference == nil, nextExpected < expected.count {
      difference = Difference(line: line, recorded: nil, replayed: expected[nextExpected])
    }
  }

  private mutating func compare(_ entry: RateLogEntry, line: Int) {
    let replayed = nextExpected < expected.count ? expected[nextExpected] : nil
    nextExpected += 1
    decisions += 1
    if replayed != entry { difference = Difference(line: line, recorded: entry, replayed: replayed) }
  }

  private mutating func play(_ entry: RateLogEntry, now: Timestamp) {
    switch entry {
    case .started: estimator.start(now)
    case .feedback(let results, let activity): estimator.receive(results, activity, now: now)
    case .loss(let expected, let lost): estimator.receiveLoss(expected: expected, lost: lost, now: now)
    case .roundTrip(let time): estimator.setRoundTrip(time, now: now)
    case .remoteMaximum(let rate): estimator.setRemoteMaximum(rate, now: now)
    case .limits(let limits): estimator.setLimits(limits, now: now)
    case .routeChanged: estimator.routeChanged(now)
    case .deadline(let activity): estimator.deadlineReached(now, activity)
    case .estimate, .probe: break
    }
    expected.removeAll(keepingCapacity: true)
    nextExpected = 0
    while let probe = estimator.takeProbe(now) { expected.append(.probe(probe)) }
    if estimator.estimate != lastEstimate {
      lastEstimate = estimator.estimate
      expected.append(.estimate(estimator.estimate))
    }
  }
}
