package import RTCPrimitives
package import RTCWire

/// Everything that decides how much may leave: the history of what was sent, the estimator that learns from its results,
/// and the pacer.
package struct RateControl {
  package private(set) var history = SentPacketHistory()
  package private(set) var pacer = Pacer()
  private var estimator: any BandwidthEstimator
  /// What the feedback at hand says; kept for its memory.
  private var results: [PacketResult] = []

  package init(estimator: any BandwidthEstimator) { self.estimator = estimator }

  /// When `deadlineReached` must be called. The pacer's deadline is `pacer.nextDeadline`.
  package var nextDeadline: Timestamp { estimator.nextDeadline }
  /// What all video together may be encoded at.
  package var target: BitRate { estimator.target }
  /// Packet loss of the last whole second, 0…1.
  package var loss: Double { estimator.loss }
  package var minimum: BitRate { estimator.limits.minimum }

  package mutating func start(_ now: Timestamp) { estimator.start(now) }
  package mutating func setLimits(_ limits: BitrateLimits) { estimator.setLimits(limits) }
  package mutating func setRemoteMaximum(_ rate: BitRate) { estimator.setRemoteMaximum(rate) }
  package mutating func deadlineReached(_ now: Timestamp) { estimator.deadlineReached(now) }

  package mutating func receive(_ feedback: consuming TransportFeedback, now: Timestamp) {
    results.removeAll(keepingCapacity: true)
    history.receive(feedback, into: &results)
    if !results.isEmpty { estimator.receive(results, now: now) }
  }

  package mutating func receiveLoss(_ loss: ReportedLoss.Interval, now: Timestamp) {
    estimator.receiveLoss(expected: loss.expected, lost: loss.lost, now: now)
  }

  /// Paces by the present estimate from now on.
  package mutating func updatePacing() { pacer.update(target: estimator.target, isNarrow: estimator.isNarrow) }

  /// True when the pacer lets a packet leave now; else its deadline is set.
  package mutating func maySend(_ now: Timestamp) -> Bool {
    if pacer.maySend(now) { return true }
    pacer.hold()
    return false
  }

  /// Nothing waits for the pacer, or something has begun to leave again.
  package mutating func releasePacer() { pacer.release() }

  /// Counts a packet that went past the pacer or through it.
  /// - Parameters:
  ///   - kind: nil for a packet without a transport-wide number of its own.
  ///   - size: bytes of the UDP payload.
  package mutating func sent(_ kind: SentPacket.Kind?, size: Int, now: Timestamp) {
    if let kind { history.add(kind, size: size, now: now) }
    if kind != .audio { pacer.sent(bytes: size, now: now) }
  }
}
