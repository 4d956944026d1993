package import RTCPrimitives
package import RTCWire

/// Send-rate control: the history of sent packets, the bandwidth estimator, and the pacer.
package struct RateControl {
  package private(set) var history = SentPacketHistory()
  package private(set) var pacer: Pacer
  private var estimator: any BandwidthEstimator
  /// The estimator's, kept here for each packet that leaves.
  package private(set) var estimate: NetworkEstimate
  private let log: RateLogEntry.Sink?
  private var loggedEstimate: NetworkEstimate?
  /// The results of the present feedback; kept to reuse its memory.
  private var results: [PacketResult] = []
  private var activity = SendActivity()
  private var lastFeedback = Timestamp.zero
  /// When something left last although too much was on its way.
  private var lastBlind = Timestamp.zero
  /// Until this time the path is known to work again, although feedback is missing.
  private var provenUntil = Timestamp.zero
  private var lastRoundTrip: TimeDelta?
  /// The last allocated rate.
  private var allocated = BitRate.zero
  /// The loss of single packets, smoothed over about the last fifty, without those that arrived late, 0…1.
  package private(set) var smoothedLoss = 0.0
  /// The time at which a full queue was last detected.
  private var lastFull: Timestamp?
  /// The rates of repair and audio, and of data channels, which are subtracted from the video's rate.
  private var others = RateMeter()
  private var data = RateMeter()
  private var video = RateMeter()
  private var protection = RateMeter()

  package init(estimator: any BandwidthEstimator, log: RateLogEntry.Sink? = nil) {
    self.estimator = estimator
    self.log = log
    estimate = estimator.estimate
    pacer = Pacer(estimate)
  }

  /// When `deadlineReached` must be called. The pacer's deadline is `pacer.nextDeadline`.
  package var nextDeadline: Timestamp { estimator.nextDeadline }
  package var minimum: BitRate { estimator.limits.minimum }

  /// The encoding rate of all video together: the target without audio, data and repair.
  package func videoTarget(_ now: Timestamp) -> BitRate {
    let target = estimate.target
    // Protection beyond that leaves as soon as video needs its place.
    let needed = min(protection.rate(now), video.rate(now).scaled(by: FECController.maximumOverhead))
    let rest = target.bitsPerSecond - others.rate(now).bitsPerSecond - data.rate(now).bitsPerSecond
    return max(minimum, BitRate(bitsPerSecond: rest - needed.bitsPerSecond))
  }

  /// The rate that data channels may take: the target without audio, video and repair. Zero while nothing recent is known of the
  /// path.
  package func dataTarget(_ now: Timestamp) -> BitRate {
    guard hasFeedback(now) else { return .zero }
    let media = others.rate(now).bitsPerSecond + video.rate(now).bitsPerSecond + protection.rate(now).bitsPerSecond
    let most = Double(estimate.target.bitsPerSecond) * Self.dataShare
    return BitRate(bitsPerSecond: max(0, min(estimate.target.bitsPerSecond - media, Int64(most))))
  }

  /// A transfer while the screen rests must leave room for the next picture.
  private static let dataShare = 0.8

  /// The repair packets for each packet of media that the target has room for beside all else.
  package func protectionRoom(_ now: Timestamp) -> Double {
    let media = Double(video.rate(now).bitsPerSecond)
    guard media > 0 else { return 0 }
    let target = Self.protectedShare * Double(estimate.target.bitsPerSecond)
    let rest = target - Double(others.rate(now).bitsPerSecond) - Double(data.rate(now).bitsPerSecond)
    return max(0, rest / media - 1)
  }
  /// Protection that is not needed leaves room for pictures larger than those before.
  private static let protectedShare = 0.85

  /// Smaller relative changes are not reported.
  private static let hysteresis = 0.05

  /// The encoding rate of all video together, if it is to be reported: always when forced, else if it has changed
  /// enough.
  package mutating func newVideoTarget(_ now: Timestamp, isForced: Bool) -> BitRate? {
    let target = videoTarget(now)
    let change = Double(abs(target.bitsPerSecond - allocated.bitsPerSecond))
    let isBound = target != allocated && (target == minimum || target == estimator.limits.maximum)
    guard isForced || isBound || change >= Self.hysteresis * Double(allocated.bitsPerSecond) else { return nil }
    allocated = target
    return target
  }

  /// The time until a packet sent now begins to arrive, beyond the path's delay: the queue here, and the estimated
  /// queue in the network.
  package func backlog(_ now: Timestamp) -> TimeDelta {
    guard history.hasFeedback, let opens = windowDeadline(now), opens > now else {
      return estimate.target.time(forBytes: activity.queued)
    }
    let excess = max(0, history.bytesInFlight - estimate.target.bytes(in: lastRoundTrip ?? .zero))
    return estimate.target.time(forBytes: activity.queued + excess)
  }

  // MARK: - Feedback

  package mutating func start(_ now: Timestamp) {
    log?(.started(estimator.limits), now)
    estimator.start(now)
    estimateChanged(now)
  }

  package mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) {
    log?(.limits(limits), now)
    estimator.setLimits(limits, now: now)
    estimateChanged(now)
  }

  package mutating func setRemoteMaximum(_ rate: BitRate, now: Timestamp) {
    log?(.remoteMaximum(rate), now)
    estimator.setRemoteMaximum(rate, now: now)
    estimateChanged(now)
  }

  package mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) {
    guard roundTrip != lastRoundTrip else { return }
    lastRoundTrip = roundTrip
    log?(.roundTrip(roundTrip), now)
    estimator.setRoundTrip(roundTrip, now: now)
    estimateChanged(now)
  }

  package mutating func routeChanged(_ now: Timestamp) {
    lastRoundTrip = nil
    log?(.routeChanged, now)
    estimator.routeChanged(now)
    estimateChanged(now)
  }

  package mutating func deadlineReached(_ now: Timestamp) {
    guard estimator.nextDeadline <= now else { return }
    wakeEstimator(now)
  }

  /// An estimator has nothing to wait for while nothing is sent.
  private static let rest = TimeDelta.seconds(1)

  private mutating func wakeEstimator(_ now: Timestamp) {
    let activity = currentActivity
    log?(.deadline(activity), now)
    estimator.deadlineReached(now, activity)
    estimateChanged(now)
  }

  /// Takes the remote peer's feedback on packets.
  /// - Returns: the number of parsing steps; see `SentPacketHistory.receive`.
  @discardableResult
  package mutating func receive(_ feedback: consuming TransportFeedback, now: Timestamp) -> Int {
    results.removeAll(keepingCapacity: true)
    let steps = history.receive(feedback, into: &results)
    lastFeedback = now
    guard !results.isEmpty else { return steps }
    let activity = currentActivity
    log?(.feedback(results, activity), now)
    estimator.receive(results, activity, now: now)
    smoothLoss(now)
    estimateChanged(now)
    return steps
  }

  package mutating func receiveLoss(_ loss: ReportedLoss.Interval, now: Timestamp) {
    log?(.loss(expected: loss.expected, lost: loss.lost), now)
    estimator.receiveLoss(expected: loss.expected, lost: loss.lost, now: now)
    estimateChanged(now)
  }

  /// Loss by a full queue is not the path's own: sending less ends it, and repair would fill the queue further. The
  /// last packets of a queue are reported long after it has drained, by the first later arrivals.
  private mutating func smoothLoss(_ now: Timestamp) {
    if (estimator.estimate.queueingDelay ?? .zero) > Self.fullQueue { lastFull = now }
    for result in results where result.arrival != nil || lastFull.map({ result.packet.sendTime > $0 }) ?? true {
      if result.wasReportedLost {
        smoothedLoss = max(0, smoothedLoss - Self.lossGain)
      } else {
        smoothedLoss += ((result.arrival == nil ? 1 : 0) - smoothedLoss) * Self.lossGain
      }
    }
  }
  private static let lossGain = 1.0 / 48
  private static let fullQueue = TimeDelta.milliseconds(60)

  /// True while feedback on single packets comes, which says more of loss than receiver reports.
  package func hasFeedback(_ now: Timestamp) -> Bool { history.hasFeedback && now - lastFeedback < Self.feedbackAge }
  private static let feedbackAge = TimeDelta.seconds(5)

  private var currentActivity: SendActivity {
    var activity = activity
    activity.inFlight = history.bytesInFlight
    return activity
  }

  private mutating func estimateChanged(_ now: Timestamp) {
    estimate = estimator.estimate
    pacer.update(estimate)
    while let probe = estimator.takeProbe(now) {
      log?(.probe(probe), now)
      pacer.add(probe, now)
    }
    guard let log, estimate != loggedEstimate else { return }
    loggedEstimate = estimate
    log(.estimate(estimate), now)
  }

  // MARK: - What leaves

  /// Bytes that wait for the pacer, for the estimator to know of.
  package mutating func setQueued(_ bytes: Int) { activity.queued = bytes }

  /// True when the pacer lets a packet leave now; else its deadline is set.
  package mutating func maySend(_ now: Timestamp) -> Bool {
    if let opens = windowDeadline(now), opens > now {
      pacer.hold(until: opens)
      return false
    }
    if pacer.maySend(now) { return true }
    pacer.hold()
    return false
  }

  /// When the next packet may leave although too much is on its way; nil while no more is than may be.
  ///
  /// Feedback that does not come in its time was lost, or nothing gets through for a while. One packet now and then finds
  /// out when that is over; more would only be lost as well.
  private func windowDeadline(_ now: Timestamp) -> Timestamp? {
    guard isWindowFull, now >= provenUntil, let window = estimate.window else { return nil }
    let patience = max(Self.leastPatience, estimate.target.time(forBytes: window))
    return max(
      max(lastFeedback, history.oldestInFlight ?? lastFeedback) + patience, lastBlind + Self.blindInterval)
  }
  private static let leastPatience = TimeDelta.milliseconds(100)
  private static let blindInterval = TimeDelta.milliseconds(25)

  private var isWindowFull: Bool {
    guard history.hasFeedback, let window = estimate.window else { return false }
    return history.bytesInFlight >= window
  }

  /// The remote peer requests packets before one that arrived: if feedback is overdue, this shows that the path works
  /// again. Packets in flight meanwhile are lost, and do not block sending until feedback says so.
  package mutating func noteRequest(_ now: Timestamp) {
    if isWindowFull, lastBlind > lastFeedback { provenUntil = now + Self.provenTime }
  }
  private static let provenTime = TimeDelta.milliseconds(150)

  /// Resets the pacer's deadline: nothing waits, or sending has started again.
  package mutating func releasePacer() { pacer.release() }

  /// Whether packets for a probe are needed, with any content.
  package var isProbing: Bool { pacer.isProbing }

  /// Whether feedback has covered every packet sent so far.
  package var hasHeardOfAll: Bool { history.hasFeedback && history.bytesInFlight == 0 }

  /// Drops probes, because there are no packets for them.
  package mutating func dropProbes() { pacer.dropProbes() }

  /// Counts a packet that passed the pacer or bypassed it.
  /// - Parameters:
  ///   - kind: nil for a packet without a transport-wide number of its own.
  ///   - size: bytes of the UDP payload.
  package mutating func sent(_ kind: SentPacket.Kind?, size: Int, now: Timestamp) {
    let isPaced = kind != .audio
    if isPaced, isWindowFull { lastBlind = now }
    let probe = isPaced ? pacer.sent(bytes: size, now: now) : nil
    if let kind {
      history.add(kind, size: size, now: now, probe: probe)
      activity.sentBytes += UInt64(size)
      let rested = now - activity.lastSent
      activity.lastSent = now
      if rested >= Self.rest, estimator.nextDeadline == .distantFuture { wakeEstimator(now) }
    }
    switch kind {
    case .video: video.add(size, now)
    case .fec: protection.add(size, now)
    case .padding: break
    case .data: data.add(size, now)
    case .audio, .repair, nil: others.add(size, now)
    }
  }

  /// Counts bytes of data channels, which have no transport-wide numbers.
  package mutating func sentData(bytes: Int, now: Timestamp) { data.add(bytes, now) }
}

/// One thing that happened to an estimator, or that it decided. The inputs of a log, given to a new estimator, lead to the
/// same decisions.
package enum RateLogEntry: Hashable, Sendable {
  case started(BitrateLimits)
  case feedback([PacketResult], SendActivity)
  case loss(expected: Int, lost: Int)
  case roundTrip(TimeDelta)
  case remoteMaximum(BitRate?)
  case limits(BitrateLimits)
  case routeChanged
  case deadline(SendActivity)
  /// A decision: the estimate is another than before.
  case estimate(NetworkEstimate)
  /// A decision: this probe leaves now.
  case probe(ProbeCluster)

  /// Takes entries as they happen, on the loop's thread, which must not be kept waiting.
  package typealias Sink = @Sendable (_ entry: RateLogEntry, _ now: Timestamp) -> Void
}
