/// Why an incoming datagram was not used. The remote peer's faults are counted, never thrown.
public enum DropReason: Int, CaseIterable, Sendable {
  /// Not STUN, DTLS, RTP or RTCP.
  case unknownKind
  /// STUN that fails its integrity check, or belongs to no agent.
  case stun
  /// DTLS that could not be read.
  case dtls
  /// SRTP or SRTCP before keys are there.
  case noKeys
  /// SRTP or SRTCP that fails authentication.
  case authentication
  /// A packet seen before.
  case replay
  /// RTP or RTCP whose lengths contradict each other.
  case malformed
  /// RTP of a stream that was not negotiated.
  case unknownStream
  /// RTP of a source (SSRC) that is another stream's already.
  case sourceCollision
  /// Feedback for congestion control that comes more often than `PeerLimits.rateFeedback` allows.
  case tooMuchFeedback
}

/// A count for every `DropReason`.
public struct DropCounts: Sendable {
  private var counts = InlineArray<10, UInt64>(repeating: 0)

  /// How many datagrams or packets were not used for this reason.
  public subscript(_ reason: DropReason) -> UInt64 {
    get { counts[reason.rawValue] }
    set { counts[reason.rawValue] = newValue }
  }

  /// Adds the counts of `other`.
  mutating func add(_ other: DropCounts) {
    for reason in DropReason.allCases { self[reason] += other[reason] }
  }

  /// How many were not used, for any reason.
  public var total: UInt64 { DropReason.allCases.reduce(0) { $0 + self[$1] } }
}
