package import RTCPrimitives

/// Says what the path to the remote peer bears. It knows packets, their times and their fates, and nothing of the formats
/// that carry feedback (transport-wide congestion control, RFC 8888, RTCP reports).
///
/// To add an estimator, conform a value to this protocol and name it in `PeerConfiguration.makeEstimator`. Sans-IO; owned
/// by its peer, on the peer's thread. Nothing here is called for each packet.
package protocol BandwidthEstimator: Sendable {
  /// What the path bears, within the limits.
  var target: BitRate { get }
  /// The path has little to spare: no more than a multiple of `target` may leave at a time.
  var isNarrow: Bool { get }
  /// Packet loss of the last whole second, 0…1.
  var loss: Double { get }
  var limits: BitrateLimits { get }
  /// When `deadlineReached` must be called; `.distantFuture` when nothing is due.
  var nextDeadline: Timestamp { get }

  /// Packets may leave from now on.
  mutating func start(_ now: Timestamp)
  /// Takes what one feedback says; never empty, in the order of the packets' numbers.
  mutating func receive(_ results: [PacketResult], now: Timestamp)
  /// Takes what a receiver report says, from remote peers that give no feedback on single packets.
  mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp)
  /// The most that the remote peer lets us send (REMB); nil: it says nothing.
  mutating func setRemoteMaximum(_ rate: BitRate?)
  mutating func setLimits(_ limits: BitrateLimits)
  /// Does what is due at `now`; harmless when nothing is.
  mutating func deadlineReached(_ now: Timestamp)
}
