package import RTCPrimitives

/// Follows the network by the delay and loss of single packets, with probes (draft-ietf-rmcat-gcc, and libwebrtc's
/// extensions), and keeps the proved rate while a screen does not change.
///
/// Each part is a file of `GCC/`. The rate has one owner, `aimd`: it grows there, by trends (`TrendlineEstimator`). A
/// standing queue (`StandingQueueGuard`), a probe, missing feedback and the end of a loss test set it. The loss limit,
/// the remote peer's limit and the configured limits bound the target in addition.
///
/// A still screen sends nothing. The estimate then stays unchanged without any timer. The first packets after it are
/// sent at most at twice the recently delivered rate, until their feedback has arrived.
package struct GoogleCongestionControl: BandwidthEstimator {
  package private(set) var limits: BitrateLimits
  package private(set) var nextDeadline = Timestamp.distantFuture
  package private(set) var estimate: NetworkEstimate

  // MARK: Parts

  private var clocks = ClockOrigins()
  private var arrivals = RecentArrivals()
  private var groups = InterArrival()
  private var trendline = TrendlineEstimator()
  private var queueing = QueueingDelay()
  private var expected = ExpectedDelay()
  private var standing = StandingQueueGuard()
  private var competing = CompetingTraffic()
  private var aimd: AIMDRateControl
  private var losses = LossBasedBandwidthEstimation()
  private var acknowledged = AcknowledgedBitrate()
  private var sendRate = SendRate()
  private var probes = ProbeController()
  private var probeResults = ProbeEstimator()
  private var bursts = BurstRate()
  private var watch = FeedbackWatch()
  private var remote = RemoteMaximum()
  private var reported = ReportedLossRate()

  // MARK: Present estimates

  /// Packets left from here on; nil before.
  private var started: Timestamp?
  private var reason = NetworkEstimate.Reason.start
  /// By RTCP or ICE.
  private var measuredRoundTrip: TimeDelta?
  private var feedbackTimes = FeedbackTimes()
  /// The standing queue: the shortest delay of the last moments.
  private var queue: TimeDelta?
  /// The standing queue without the queues that pictures cause by themselves and that drain again.
  private var unexpectedQueue: TimeDelta?
  /// The standing queue, with what was accepted as delay of the path lately.
  private var wholeQueue: TimeDelta?
  private var lastCongestion: Timestamp?
  /// The rate that the path bore before other traffic came, and how long it is looked for; nil when it is not.
  private var recovery: (goal: Double, until: Timestamp)?
  /// The packets that the present feedback reports as lost.
  private var lostNow = 0
  private var isApplicationLimited = false
  /// The last packet before a rest; nil while none is over or on.
  private var restedSince: Timestamp?
  private var lastSilence = Timestamp.zero

  private static let tick = TimeDelta.milliseconds(100)
  /// A sender that has sent nothing for so long rests.
  private static let rest = TimeDelta.seconds(1)
  /// Less than this share of the target is sent: more would teach nothing.
  private static let usedShare = 0.7
  /// No growth and no probes above this queue.
  private static let calmQueue = TimeDelta.milliseconds(14)
  /// A trend without a queue of so much is jitter.
  private static let leastQueue = TimeDelta.milliseconds(8)
  private static let calmTime = TimeDelta.milliseconds(600)
  private static let pacingFactor = (free: 2.5, slow: 1.3, queued: 1.1)
  /// Pictures of a screen are large. On a path as slow as the first rate, a picture sent at 2.5 times the rate makes a
  /// queue of its own, which is no information about the path. On paths as fast as the second rate it does not matter.
  private static let slowPaths = (slow: 1e6, fast: 3e6)
  private static let burstTime = TimeDelta.milliseconds(40)
  private static let atOnce = 3_000...12_000
  /// A path that carries so many times the rate is not filled by one picture.
  private static let burstFactor = 1.5
  /// The first step after a probe near the path's capacity: bits per second, and of the rate.
  private static let (leastProbeStep, probeStep) = (60_000.0, 0.03)
  /// A rate below this share of an earlier one is worth a search for that, and this share of it is looked for.
  private static let (muchLess, recovered) = (0.7, 0.85)
  /// Other senders of this kind together make a shorter queue.
  private static let foreignQueue = TimeDelta.milliseconds(100)
  private static let recoveryTime = TimeDelta.seconds(3)
  private static let leastWindow = 6_000

  package init(limits: BitrateLimits) {
    self.limits = limits
    let start = limits.clamp(limits.start)
    aimd = AIMDRateControl(rate: Double(start.bitsPerSecond))
    estimate = NetworkEstimate(target: start, pacingRate: start, burst: Self.atOnce.upperBound)
    updateEstimate(.zero)
  }

  package mutating func start(_ now: Timestamp) {
    started = now
    probes.start(rate: target, maximum: maximum, now: now)
    nextDeadline = now + Self.tick
    updateEstimate(now)
  }

  // MARK: - Feedback on single packets

  package mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp) {
    guard let last = results.last else { return }
    feedbackReceived(results, last, activity, now)
    var probe: ProbeEstimator.Result?
    lostNow = 0
    let pacing = Double(estimate.pacingRate.bitsPerSecond)
    for result in results {
      losses.add(result)
      bursts.add(result, pacing: pacing, now)
      if result.arrival == nil, !result.wasReportedLost { lostNow += 1 }
      guard let arrival = arrivalOf(result, now) else { continue }
      if let id = result.packet.probe, let shown = probeResults.add(arrival, of: id, kind: result.packet.kind) {
        probe = shown
      }
    }
    if activity.inFlight == 0 { bursts.endTrain(pacing: pacing, now) }
    acknowledged.update(arrivals, now)
    sendRate.add(activity, now)
    updateUse(activity, now)
    control(newestSent: last.packet.sendTime, now)
    if let probe { take(probe, now) }
    if let probe = probeResults.takeUnreadable() { probes.repeat(probe, now: now) }
    requestProbes(activity, now)
    scheduleTick(activity, now)
    updateEstimate(now)
  }

  private mutating func feedbackReceived(
    _ results: [PacketResult], _ last: PacketResult, _ activity: SendActivity, _ now: Timestamp
  ) {
    feedbackTimes.add(oldest: results[0].packet.sendTime, newest: last.packet.sendTime, now)
    if let rate = watch.feedbackReceived(inFlight: activity.inFlight, now), rate > aimd.rate {
      set(rate, .feedback)
    }
    if let restedSince, last.packet.sendTime > restedSince { self.restedSince = nil }
  }

  /// Counts a packet that arrived; nil for a lost one.
  private mutating func arrivalOf(_ result: PacketResult, _ now: Timestamp) -> RecentArrivals.Arrival? {
    let sent = result.packet.sendTime
    let waits = result.wasReportedLost ? ExpectedDelay.Delay() : expected.add(size: result.packet.size, sent: sent)
    guard let arrived = result.arrival else { return nil }
    if !clocks.isPlausible(sent: sent, arrived: arrived) {
      clocks.begin(sent: sent, arrived: arrived)
      forgetDelays()
    }
    let arrival = clocks.arrival(sent: sent, arrived: arrived, size: result.packet.size, waits)
    arrivals.add(arrival)
    queueing.add(arrival, now: now)
    guard !result.wasReportedLost else { return arrival }
    if sent - lastSilence > Self.rest {
      groups.reset()
      trendline.reset()
    }
    lastSilence = sent
    if let delta = groups.add(arrival) { trendline.add(delta) }
    return arrival
  }

  /// The clocks or the path are others.
  private mutating func forgetDelays() {
    arrivals.removeAll()
    groups.reset()
    trendline.reset()
    queueing.reset()
    standing.reset()
    competing.reset()
    recovery = nil
    queue = nil
    unexpectedQueue = nil
    wholeQueue = nil
  }

  private mutating func updateUse(_ activity: SendActivity, _ now: Timestamp) {
    guard let rate = sendRate.rate(activity, now) else { return }
    isApplicationLimited = rate < Self.usedShare * target && activity.queued == 0
  }

  // MARK: - Control

  /// Lets each part evaluate the feedback.
  private mutating func control(newestSent: Timestamp, _ now: Timestamp) {
    let base = queueing.base(now)
    let newest = arrivals.newest(
      over: StandingQueueGuard.measuringTime, packets: StandingQueueGuard.measuredPackets)
    if let base, newest.packets > 0 {
      queue = base.wait(newest.minimumTransit, bare: newest.minimumBare)
      unexpectedQueue = base.wait(newest.minimumUnexpected, bare: newest.minimumBareUnexpected)
      let whole = competing.base(base, now).wait(newest.minimumUnexpected, bare: newest.minimumBareUnexpected)
      competing.note(queue: whole, rate: standing.rateBefore ?? aimd.rate, now: now)
      wholeQueue = whole
    }
    var busy = RecentArrivals.Run()
    if let base, let unexpectedQueue {
      busy = arrivals.newest(
        over: StandingQueueGuard.measuringTime, waiting: StandingQueueGuard.busyAbove, base: base)
      if competing.isOn {
        compete(wholeQueue ?? unexpectedQueue, now)
      } else {
        guardQueue(unexpectedQueue, busy: busy, newestSent: newestSent, now)
      }
    }
    if !standing.isDraining, !competing.isOn {
      followTrend(busy: busy.arrivalSpan >= StandingQueueGuard.measuringTime ? busy.deliveryRate : nil, now)
    }
    followLoss(newestSent: newestSent, now)
  }

  private mutating func guardQueue(
    _ queue: TimeDelta, busy: RecentArrivals.Run, newestSent: Timestamp, _ now: Timestamp
  ) {
    let action = standing.update(
      StandingQueueGuard.Input(
        queue: queue, busy: busy, newestSent: newestSent, rate: aimd.rate,
        isApplicationLimited: isApplicationLimited, hasCompetition: competing.isLikely(now), roundTrip: roundTrip,
        now: now))
    switch action {
    case .none: break
    case .drain(let rate):
      lastCongestion = now
      bursts.forget()
      probes.pause(now)
      set(rate, .queue)
    case .drained(let capacity, let rateBefore, let longestQueue):
      lastCongestion = now
      aimd.setCapacity(capacity)
      set(min(capacity * 0.9, max(provable, aimd.rate)), .queue)
      if longestQueue > Self.foreignQueue { recover(to: rateBefore, now) }
    case .stays(let isForeign):
      if isForeign, let rate = competing.begin(present: aimd.rate, queue: wholeQueue ?? queue, now: now) {
        set(rate, .queue)
        break
      }
      acceptDelay(now)
    }
  }

  /// The present delay is the path's.
  private mutating func acceptDelay(_ now: Timestamp) {
    if let base = queueing.base(now) { competing.accept(before: base, now: now) }
    let newest = arrivals.newest(over: .milliseconds(500))
    queueing.setBase(
      QueueingDelay.Base(transit: newest.minimumTransit, own: newest.minimumTransit &- newest.minimumBare), now: now)
    trendline.reset()
  }

  /// The rate beside traffic that holds a queue.
  private mutating func compete(_ queue: TimeDelta, _ now: Timestamp) {
    let action = competing.update(
      CompetingTraffic.Input(
        queue: queue, rate: aimd.rate, acknowledged: acknowledged.rate, lost: lostNow,
        isApplicationLimited: isApplicationLimited, roundTrip: roundTrip, now: now))
    lastCongestion = now
    switch action {
    case .none: if reason == .increase { reason = .hold }
    case .rate(let rate, let isIncrease): set(rate, isIncrease ? .increase : .loss)
    case .ended(let before):
      trendline.reset()
      recover(to: before, now)
    case .test: trendline.reset()
    case .longerPath: acceptDelay(now)
    }
  }

  /// Looks at once for the rate from before a queue that has gone with the traffic that made it.
  private mutating func recover(to rate: Double, _ now: Timestamp) {
    guard aimd.rate < Self.muchLess * rate else { return }
    recovery = (goal: Self.recovered * rate, until: now + Self.recoveryTime)
    probes.recover(min(2 * aimd.rate, Self.recovered * rate), now: now)
  }

  private mutating func followTrend(busy: Double?, _ now: Timestamp) {
    var usage = trendline.usage
    if usage == .overuse, let unexpectedQueue, unexpectedQueue < Self.leastQueue { usage = .normal }
    let isCalm = (unexpectedQueue ?? .zero) < Self.calmQueue
    let change = aimd.update(
      AIMDRateControl.Input(
        usage: usage, acknowledged: acknowledged.rate, busy: busy,
        mayIncrease: isCalm && !isApplicationLimited && !losses.isLimiting(aimd.rate) && aimd.rate < maximum,
        isApplicationLimited: isApplicationLimited, isNearCapacity: isRecentlyCongested(now), roundTrip: roundTrip,
        now: now))
    if usage == .overuse {
      lastCongestion = now
      bursts.forget()
      probes.pause(now)
    }
    switch change {
    case .none: if reason == .increase { reason = .hold }
    case .increased: reason = .increase
    case .decreased: reason = .overuse
    }
  }

  private mutating func followLoss(newestSent: Timestamp, _ now: Timestamp) {
    let isCongested = standing.isDraining || (unexpectedQueue ?? .zero) > Self.calmQueue || trendline.usage == .overuse
    let (change, restored) = losses.update(
      LossBasedBandwidthEstimation.Input(
        isCongested: isCongested, isDraining: standing.isDraining || competing.isOn, target: target,
        acknowledged: acknowledged.rate, newestSent: newestSent, now: now))
    switch change {
    case .none: break
    case .decreased: reason = .loss
    case .restored: if let restored { set(max(restored, aimd.rate), .loss) }
    }
  }

  private mutating func set(_ rate: Double, _ reason: NetworkEstimate.Reason) {
    aimd.set(max(minimum, min(rate, maximum)))
    self.reason = reason
  }

  private func isRecentlyCongested(_ now: Timestamp) -> Bool {
    lastCongestion.map { now - $0 < .seconds(10) } ?? false
  }

  // MARK: - Probes

  /// The maximum that growth may reach: the start rate, or twice the recently delivered rate.
  private var provable: Double { max(Double(limits.start.bitsPerSecond), 2 * acknowledged.proved) }

  /// Goes where a probe has shown the way: at once where nothing is known of the path, in growing steps, each confirmed
  /// by the next probe, where it was full lately. There a single probe may just have met a gap in the packets of others.
  private mutating func take(_ probe: ProbeEstimator.Result, _ now: Timestamp) {
    probeResults.finish(probe.cluster.id)
    let before = target
    let showsRoom = ProbeController.showsRoom(probe, over: before) && !standing.isDraining
    if let recovery, now > recovery.until || before >= recovery.goal || !showsRoom { self.recovery = nil }
    let isNear = isRecentlyCongested(now) && recovery == nil
    probes.count(showsRoom: showsRoom)
    bursts.take(probed: probe.rate, isSaturated: probe.isSaturated, now)
    if probe.isSaturated { aimd.setCapacity(probe.rate) }
    if !standing.isDraining, probe.rate > before {
      // The first probes are themselves the first proof.
      var rate = acknowledged.rate == nil ? probe.rate : min(probe.rate, max(provable, before))
      if let recovery { rate = min(rate, max(before, recovery.goal)) }
      if isNear { rate = min(rate, before + probeStep(before)) }
      losses.raise(to: rate)
      if rate > aimd.rate {
        if aimd.capacity.isBelow(rate) { aimd.forgetCapacity() }
        set(rate, .probe)
      }
    }
    probes.take(
      ProbeController.Outcome(
        result: probe, before: before, after: max(before, min(aimd.rate, losses.limit ?? .infinity)),
        maximum: min(maximum, 2 * provable), isNearCapacity: isNear, now: now))
  }

  /// Doubles with each probe in a row that showed room.
  private func probeStep(_ rate: Double) -> Double {
    // The first two are alike: two gaps in a row are rare.
    max(Self.leastProbeStep, Self.probeStep * rate) * Double(1 << max(0, min(10, probes.roomInARow - 2)))
  }

  private mutating func requestProbes(_ activity: SendActivity, _ now: Timestamp) {
    probeResults.forget(before: roundTrip, now)
    let isQuiet = lastCongestion.map { now - $0 > Self.calmTime } ?? true
    let isSending = now - activity.lastSent < .milliseconds(250)
    let isCalm =
      isQuiet && isSending && (unexpectedQueue ?? .zero) < Self.calmQueue && !losses.isHolding(now)
      && !probeResults.isProbing && started != nil
    probes.update(
      ProbeController.Input(
        target: target, maximum: min(maximum, provable), isCalm: isCalm, isApplicationLimited: isApplicationLimited,
        now: now))
  }

  package mutating func takeProbe(_ now: Timestamp) -> ProbeCluster? {
    guard let probe = probes.take() else { return nil }
    probeResults.add(probe, now: now)
    return probe
  }

  // MARK: Other information

  package mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp) {
    guard !feedbackTimes.hasFeedback else { return }
    guard let rate = reported.add(expected: expected, lost: lost, rate: aimd.rate, now) else { return }
    set(rate, rate < aimd.rate ? .loss : .increase)
    updateEstimate(now)
  }

  package mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) {
    measuredRoundTrip = max(.zero, roundTrip)
    updateEstimate(now)
  }

  package mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp) {
    remote.set(rate, now)
    if !feedbackTimes.hasFeedback, let rate = remote.lead(from: aimd.rate, now) { set(rate, .remote) }
    updateEstimate(now)
  }

  package mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) {
    self.limits = limits
    set(aimd.rate, .limits)
    updateEstimate(now)
  }

  package mutating func routeChanged(_ now: Timestamp) {
    let rate = min(aimd.rate, Double(limits.clamp(limits.start).bitsPerSecond))
    clocks = ClockOrigins()
    forgetDelays()
    bursts.reset()
    acknowledged.reset()
    losses.reset()
    watch.reset()
    feedbackTimes.reset()
    probeResults.reset()
    sendRate.reset()
    remote.set(nil, now)
    measuredRoundTrip = nil
    lastCongestion = nil
    aimd = AIMDRateControl(rate: rate)
    reason = .start
    if started != nil { probes.start(rate: rate, maximum: maximum, now: now) }
    updateEstimate(now)
  }

  // MARK: - Time

  package mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity) {
    guard nextDeadline <= now || hasResumed(activity) else { return }
    sendRate.add(activity, now)
    updateUse(activity, now)
    if feedbackTimes.hasFeedback,
      let rate = watch.check(activity, rate: aimd.rate, roundTrip: roundTrip, now)
    {
      set(rate, .feedback)
    }
    if let rate = watch.check(roundTrip: measuredRoundTrip, rate: aimd.rate, now) { set(rate, .roundTrip) }
    requestProbes(activity, now)
    scheduleTick(activity, now)
    updateEstimate(now)
  }

  /// The first packet after a rest has left: from now on feedback may be missing.
  private func hasResumed(_ activity: SendActivity) -> Bool {
    nextDeadline == .distantFuture && started != nil && activity.lastSent > restedSince ?? .zero
  }

  private mutating func scheduleTick(_ activity: SendActivity, _ now: Timestamp) {
    guard now - activity.lastSent < Self.rest else {
      restedSince = activity.lastSent
      nextDeadline = .distantFuture
      return
    }
    nextDeadline = now + Self.tick
  }

  // MARK: - The estimate

  private var minimum: Double { max(0, min(Double(limits.minimum.bitsPerSecond), BitRate.reckonable)) }
  private var maximum: Double { max(minimum, min(Double(limits.maximum.bitsPerSecond), BitRate.reckonable)) }
  private var target: Double { Double(estimate.target.bitsPerSecond) }
  private var roundTrip: TimeDelta {
    min(measuredRoundTrip ?? feedbackTimes.roundTrip ?? .milliseconds(100), .seconds(5))
  }

  private mutating func updateEstimate(_ now: Timestamp) {
    var rate = aimd.rate
    var bound: NetworkEstimate.Reason?
    if let limit = losses.limit, limit < rate { (rate, bound) = (limit, .loss) }
    let remoteMaximum = remote.rate(now)
    if let remoteMaximum, Double(remoteMaximum.bitsPerSecond) < rate {
      (rate, bound) = (Double(remoteMaximum.bitsPerSecond), .remote)
    }
    if rate > maximum || rate < minimum { bound = .limits }
    rate = max(minimum, min(rate, maximum))
    estimate.target = BitRate(rate)
    estimate.reason = bound ?? reason
    expected.setTarget(rate, now)
    estimate.delayBased = BitRate(aimd.rate)
    estimate.lossBased = BitRate(min(losses.limit ?? maximum, maximum))
    estimate.acknowledged = acknowledged.rate.map { BitRate($0) }
    estimate.remoteMaximum = remoteMaximum
    estimate.queueingDelay = queue
    estimate.loss = losses.loss
    estimate.roundTripTime = measuredRoundTrip ?? feedbackTimes.roundTrip
    updatePacing(rate, now)
  }

  /// How much faster than the rate packets may leave while no queue stands.
  private func freePacing(_ rate: Double) -> Double {
    guard lastCongestion != nil else { return Self.pacingFactor.free }
    let position = max(0, min(1, (rate - Self.slowPaths.slow) / (Self.slowPaths.fast - Self.slowPaths.slow)))
    return Self.pacingFactor.slow + (Self.pacingFactor.free - Self.pacingFactor.slow) * position
  }

  /// The rate of one picture's packets where the path was seen to carry it, and no queue stands.
  private func burstRate(_ rate: Double, _ now: Timestamp) -> Double? {
    guard !competing.isOn, (unexpectedQueue ?? .zero) < Self.leastQueue, !losses.isLimiting(rate) else { return nil }
    guard let burst = bursts.rate(target: rate, isFirst: restedSince != nil, now) else { return nil }
    let carried = min(burst, aimd.capacity.mean ?? burst)
    return carried >= Self.burstFactor * rate ? carried : nil
  }

  private mutating func updatePacing(_ rate: Double, _ now: Timestamp) {
    let isQueued = standing.isDraining || (unexpectedQueue ?? .zero) > StandingQueueGuard.threshold
    var pacing = rate * (isQueued ? Self.pacingFactor.queued : freePacing(rate))
    // Packets sent faster than the capacity wait in the network instead of here, and count as a queue.
    if let capacity = aimd.capacity.mean { pacing = max(rate, min(pacing, capacity)) }
    if restedSince != nil, acknowledged.proved > 0 { pacing = max(minimum, min(rate, 2 * acknowledged.proved)) }
    let burst = isQueued ? nil : burstRate(rate, now)
    if let burst { pacing = max(pacing, burst) }
    estimate.pacingRate = BitRate(pacing)
    // Before anything is known: the ten packets that any connection may begin with (RFC 6928).
    let atOnce = feedbackTimes.hasFeedback ? estimate.target.bytes(in: Self.burstTime) : Self.atOnce.upperBound
    estimate.burst = max(Self.atOnce.lowerBound, min(Self.atOnce.upperBound, atOnce))
    let others = competing.isOn ? min(wholeQueue ?? .zero, .seconds(2)) : .zero
    let beyond = probes.window + (burst.map { BurstRate.window($0) } ?? 0)
    estimate.window = feedbackTimes.responseTime.map {
      max(Self.leastWindow, estimate.target.bytes(in: $0 + .milliseconds(50) + others) + beyond)
    }
  }
}

extension BitRate {
  /// Rounds down, and clamps to 0…1 Tbit/s.
  init(_ bitsPerSecond: Double) {
    self.init(bitsPerSecond: Int64(max(0, min(bitsPerSecond, Self.reckonable))))
  }
  static var reckonable: Double { 1e12 }
}
