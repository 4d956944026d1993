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
  /// Does what is due at `now`; harmless when nothing is.
  mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity)
  /// The probe that is to be sent next; each is handed out once.
  mutating func takeProbe() -> ProbeCluster?
}

/// What was sent lately and what is about to be: whether the sender could have used more than it did.
package struct SendActivity: Hashable, Sendable {
  /// Bytes of all packets that left under transport-wide numbers, since the beginning.
  package var sentBytes: UInt64 = 0
  /// Of those: on their way, as no feedback has spoken of them nor of a later one.
  package var inFlight = 0
  /// Bytes that wait for the pacer.
  package var queued = 0
  /// When the last packet left.
  package var lastSent = Timestamp.zero

  package init() {}
}

/// A short run of packets that leaves faster than the estimate, to learn whether the path bears it. Its packets carry `id`
/// in `SentPacket.probe`.
package struct ProbeCluster: Hashable, Sendable {
  package var id: UInt16
  package var rate: BitRate
  /// It is over when both have left.
  package var minimumPackets: Int
  package var minimumBytes: Int

  package init(id: UInt16, rate: BitRate, minimumPackets: Int = 5, duration: TimeDelta = .milliseconds(15)) {
    self.id = id
    self.rate = rate
    self.minimumPackets = minimumPackets
    minimumBytes = rate.bytes(in: duration)
  }
}
