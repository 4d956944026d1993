import RTCPrimitives
import RTCWire

/// RFC 8445 §6.1.2.6. No pair is ever frozen: there is one component, and `Checklist.nextToCheck` sees to it that no sort of
/// pairs holds up another.
package enum CandidatePairState: Hashable, Sendable {
  /// It will be checked in its turn, or when it is needed.
  case waiting
  /// A check is under way.
  case inProgress
  /// A check was answered.
  case succeeded
  /// No check was answered, or one was refused.
  case failed
}

/// A local and a remote candidate (RFC 8445 §6.1.2), with the state of their check.
struct CandidatePair {
  enum Nomination: Hashable {
    case none
    /// Controlled: USE-CANDIDATE came before our own check succeeded.
    case requested
    /// Controlling: the nominating check is queued or under way.
    case underWay
  }

  let id: Int
  let local: ICECandidate
  var remote: ICECandidate
  /// With the scopes that the socket needs.
  let route: Route
  var priority: UInt64 = 0
  var state = CandidatePairState.waiting
  var nomination: Nomination = .none
  /// When it was last checked.
  var checkedAt = Timestamp(nanoseconds: .min)
  /// When an authentic request or response last came this way.
  var heardAt = Timestamp(nanoseconds: .min)
  /// From the latest answered check that was sent once.
  var roundTripTime: TimeDelta?
  /// Checks sent, repetitions included.
  var requestsSent = 0
  /// Success responses.
  var responsesReceived = 0

  var isBetweenHosts: Bool { local.kind == .host && remote.kind != .serverReflexive && remote.kind != .relayed }

  /// The kind of the pair.
  var kind: CandidatePairKind { CandidatePairKind(local: local, remote: remote) }

  /// RFC 8445 §6.1.2.3.
  static func priority(local: UInt32, remote: UInt32, role: ICERole) -> UInt64 {
    let (g, d) = role == .controlling ? (local, remote) : (remote, local)
    return UInt64(min(g, d)) << 32 + UInt64(max(g, d)) << 1 + (g > d ? 1 : 0)
  }
}

/// The kind of a pair of candidates. Pairs of each kind are checked in turns (`Checklist`), and counted together if
/// none worked.
package enum CandidatePairKind: Int, CaseIterable, Hashable, Sendable {
  /// Straight from host to host.
  case host
  /// Through a NAT on either side.
  case reflexive
  /// Through a TURN server on either side, or on both.
  case relay
  /// Over a TCP connection (RFC 6544).
  case tcp

  init(local: ICECandidate, remote: ICECandidate) {
    if local.tcpType != nil {
      self = .tcp
    } else if local.kind == .relayed || remote.kind == .relayed {
      self = .relay
    } else if local.kind == .host, remote.kind == .host {
      self = .host
    } else {
      self = .reflexive
    }
  }
}
