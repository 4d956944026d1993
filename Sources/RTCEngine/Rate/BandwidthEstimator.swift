package import RTCPrimitives

/// Estimates the bandwidth of the path to the remote peer. It uses packets, their times and their fates, and is
/// independent of the formats of feedback (transport-wide congestion control, RFC 8888, RTCP reports).
///
/// To add an estimator, conform a value to this protocol and name it in `RateControlAlgorithm`. Sans-IO; owned by its
/// peer, on the peer's thread. No method is called for each packet. The calls, their order and their arguments
/// determine all results: a recorded list of calls (`RateLogEntry`) replays to the same estimates.
package protocol BandwidthEstimator: Sendable {
  /// The estimate and its reason.
  var estimate: NetworkEstimate { get }
  var limits: BitrateLimits { get }
  /// When `deadlineReached` must be called; `.distantFuture` when nothing is due.
  var nextDeadline: Timestamp { get }

  /// Packets may leave from now on.
  mutating func start(_ now: Timestamp)
  /// Takes the results of one feedback; never empty, in the order of sequence numbers.
  mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp)
  /// Takes the loss of a receiver report, from remote peers without feedback on single packets.
  mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp)
  /// The round trip by RTCP or ICE, whichever measured it last.
  mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp)
  /// The most that the remote peer lets us send (REMB); nil: it says nothing. It must be said again to hold on.
  mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp)
  mutating func setLimits(_ limits: BitrateLimits, now: Timestamp)
  /// Everything goes another way from now on, of which nothing is known.
  mutating func routeChanged(_ now: Timestamp)
  /// Performs everything that is due at `now`; without effect if nothing is. Also called when the first packet after a
  /// pause was sent.
  mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity)
  /// The probe to send from `now` on; each is returned once.
  mutating func takeProbe(_ now: Timestamp) -> ProbeCluster?
}
