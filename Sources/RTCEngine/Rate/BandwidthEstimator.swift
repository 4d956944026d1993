package import RTCPrimitives

/// Says what the path to the remote peer bears. It knows packets, their times and their fates, and nothing of the formats
/// that carry feedback (transport-wide congestion control, RFC 8888, RTCP reports).
///
/// To add an estimator, conform a value to this protocol and name it in `RateControlAlgorithm`. Sans-IO; owned by its peer,
/// on the peer's thread. Nothing here is called for each packet. What is called, in order and with its arguments, decides
/// everything: a recorded list of calls (`RateLogEntry`) replays to the same estimates.
package protocol BandwidthEstimator: Sendable {
  /// What the path bears, and why.
  var estimate: NetworkEstimate { get }
  var limits: BitrateLimits { get }
  /// When `deadlineReached` must be called; `.distantFuture` when nothing is due.
  var nextDeadline: Timestamp { get }

  /// Packets may leave from now on.
  mutating func start(_ now: Timestamp)
  /// Takes what one feedback says; never empty, in the order of the packets' numbers.
  mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp)
  /// Takes what a receiver report says, from remote peers that give no feedback on single packets.
  mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp)
  /// The round trip by RTCP or ICE, whichever measured it last.
  mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp)
  /// The most that the remote peer lets us send (REMB); nil: it says nothing. It must be said again to hold on.
  mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp)
  mutating func setLimits(_ limits: BitrateLimits, now: Timestamp)
  /// Everything goes another way from now on, of which nothing is known.
  mutating func routeChanged(_ now: Timestamp)
  /// Does what is due at `now`; harmless when nothing is. Is also called when the first packet after a rest has left.
  mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity)
  /// The probe that is to be sent from `now` on; each is handed out once.
  mutating func takeProbe(_ now: Timestamp) -> ProbeCluster?
}
