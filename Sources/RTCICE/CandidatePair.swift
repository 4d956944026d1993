import RTCPrimitives

/// A local and a remote candidate (RFC 8445 §6.1.2), with what came of checking them.
struct CandidatePair {
  /// RFC 8445 §6.1.2.6.
  enum State: Hashable {
    case frozen
    case waiting
    case inProgress
    case succeeded
    case failed
  }

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
  var state: State = .frozen
  var nomination: Nomination = .none
  /// When an authentic request or response last came this way.
  var heardAt = Timestamp(nanoseconds: .min)
  /// From the first answered check that was sent once.
  var roundTripTime: TimeDelta?

  var isBetweenHosts: Bool { local.kind == .host && remote.kind != .serverReflexive && remote.kind != .relayed }

  func hasFoundation(of other: CandidatePair) -> Bool {
    local.foundation == other.local.foundation && remote.foundation == other.remote.foundation
  }

  /// RFC 8445 §6.1.2.3.
  static func priority(local: UInt32, remote: UInt32, role: ICERole) -> UInt64 {
    let (g, d) = role == .controlling ? (local, remote) : (remote, local)
    return UInt64(min(g, d)) << 32 + UInt64(max(g, d)) << 1 + (g > d ? 1 : 0)
  }
}
