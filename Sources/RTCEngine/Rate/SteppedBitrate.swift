package import RTCPrimitives

/// Changes the target bitrate in steps by the packet loss that the receiver reports: each second by the last second's
/// loss, every five seconds by that of the last ten.
package struct SteppedBitrate: BandwidthEstimator {
  package private(set) var limits: BitrateLimits
  package private(set) var nextDeadline = Timestamp.distantFuture
  /// The packet loss over the last second reported about, 0…1.
  package private(set) var loss = 0.0
  /// The rate after the steps so far.
  private var rate: BitRate
  /// Receiver's own ceiling (REMB), if it sends one.
  private var remoteMaximum: BitRate?
  private var roundTripTime: TimeDelta?

  /// Packets expected and lost in each of the last ten seconds, the current one last.
  private var seconds: [(expected: Int, lost: Int)] = [(0, 0)]
  private var ticks = 0

  package static let tick = TimeDelta.seconds(1)

  package init(limits: BitrateLimits) {
    self.limits = limits
    rate = limits.clamp(limits.start)
  }

  // MARK: - Feedback

  package mutating func start(_ now: Timestamp) { nextDeadline = now + Self.tick }

  /// Audio packets are left out, as they show little of the network's bandwidth. A late packet stays counted as lost.
  package mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp) {
    var (expected, lost) = (0, 0)
    for result in results where result.packet.kind != .audio && !result.wasReportedLost {
      expected += 1
      if result.arrival == nil { lost += 1 }
    }
    report(expected: expected, lost: lost)
  }

  package mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp) { report(expected: expected, lost: lost) }

  /// Counts packets that arrived or did not.
  package mutating func report(expected: Int, lost: Int) {
    guard expected > 0 else { return }
    seconds[seconds.count - 1].expected += expected
    seconds[seconds.count - 1].lost += min(max(0, lost), expected)
  }

  package mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) { roundTripTime = roundTrip }

  package mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp) { remoteMaximum = rate }

  package mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) {
    self.limits = limits
    rate = limits.clamp(rate)
  }

  /// Loss on another way says nothing of this one.
  package mutating func routeChanged(_ now: Timestamp) { seconds = [(0, 0)] }

  package mutating func takeProbe(_ now: Timestamp) -> ProbeCluster? { nil }

  // MARK: - Results

  package var estimate: NetworkEstimate {
    let paced = target.scaled(by: Self.narrowFactor)
    let pacingRate = isNarrow ? paced : max(paced, Self.freeRate)
    var estimate = NetworkEstimate(
      target: target, pacingRate: pacingRate,
      burst: max(Self.minimumBurst, pacingRate.bytes(in: .milliseconds(10))))
    estimate.loss = loss
    estimate.lossBased = rate
    estimate.remoteMaximum = remoteMaximum
    estimate.roundTripTime = roundTripTime
    return estimate
  }

  /// The send rate while there is no sign of a narrow network, so that large first pictures appear at once.
  package static let freeRate = BitRate.megabitsPerSecond(25)
  /// Pacing rate over target rate on a narrow network.
  package static let narrowFactor = 2.5
  /// About the ten packets that any connection may begin with (RFC 6928).
  package static let minimumBurst = 12_000

  package var target: BitRate { remoteMaximum.map { max(limits.minimum, min(rate, $0)) } ?? rate }

  /// Packets were lost within the last ten seconds, or the target has fallen below where it started: sending must not go
  /// far beyond it.
  package var isNarrow: Bool {
    max(loss, tenSecondLoss ?? 0) >= Self.narrowLoss || target < limits.clamp(limits.start)
  }
  private static let narrowLoss = 0.02

  /// Nil when nothing was sent: then nothing was learned.
  private var tenSecondLoss: Double? {
    let expected = seconds.reduce(0) { $0 + $1.expected }
    guard expected > 0 else { return nil }
    return Double(seconds.reduce(0) { $0 + $1.lost }) / Double(expected)
  }

  package mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity) { deadlineReached(now) }

  /// Closes a second that is over.
  package mutating func deadlineReached(_ now: Timestamp) {
    guard nextDeadline <= now else { return }
    closeSecond()
    nextDeadline = now + Self.tick
  }

  /// Closes one second and steps.
  package mutating func closeSecond() {
    ticks += 1
    let last = seconds[seconds.count - 1]
    loss = last.expected > 0 ? Double(last.lost) / Double(last.expected) : 0
    if loss >= limits.criticalLoss {
      rate = limits.clamp(rate.scaled(by: 1 - limits.criticalStepDown))
    } else if ticks % 5 == 0 {
      stepByTenSeconds()
    }
    seconds.append((0, 0))
    if seconds.count > 10 { seconds.removeFirst() }
  }

  private mutating func stepByTenSeconds() {
    guard let loss = tenSecondLoss else { return }
    if loss >= limits.highLoss {
      rate = limits.clamp(rate.scaled(by: 1 - limits.stepDown))
    } else if loss < limits.lowLoss {
      rate = limits.clamp(rate.scaled(by: 1 + limits.stepUp))
    }
  }
}
