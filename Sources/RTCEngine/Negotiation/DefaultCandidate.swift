import RTCPrimitives
import RTCWire

extension MediaDescription {
  /// Puts our candidates in, and the default one into the m-, c- and rtcp-lines (RFC 8839 §4.2.1.2): where a peer without ICE
  /// would most likely reach us. Without one they say that there is none yet (RFC 8840 §4.1.1).
  mutating func setCandidates(of local: LocalTransport) {
    transport.candidates = local.candidates
    transport.endOfCandidates = local.endOfCandidates
    guard let best = local.candidates.filter(\.mayBeDefault).max(by: { $0.defaultRank < $1.defaultRank }),
      case .ip(let ip) = best.address
    else { return }
    let address = "IN \(ip.isV4 ? "IP4" : "IP6") \(ip)"
    port = best.port
    connection = address
    if rtcp != nil { rtcp = "\(best.port) \(address)" }
  }
}

extension CandidateDescription {
  fileprivate var mayBeDefault: Bool {
    guard case .udp = transport, case .ip(let ip) = address else { return false }
    return component == 1 && !ip.isLoopback && !ip.isLinkLocal
  }

  /// Relayed before reflexive before host, IPv4 before IPv6, then by priority.
  fileprivate var defaultRank: UInt64 {
    let kind: UInt64 =
      switch self.kind {
      case .relayed: 2
      case .serverReflexive, .peerReflexive: 1
      case .host: 0
      }
    let isV4 = if case .ip(let ip) = address { ip.isV4 } else { false }
    return kind << 40 | (isV4 ? 1 : 0) << 32 | UInt64(priority)
  }
}
