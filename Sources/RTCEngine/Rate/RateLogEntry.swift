package import RTCPrimitives

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
