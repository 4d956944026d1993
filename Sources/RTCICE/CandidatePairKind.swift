import RTCWire

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
