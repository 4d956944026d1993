package import RTCPrimitives
package import RTCWire

extension ICECandidateKind {
  /// The recommended type preference (RFC 8445 §5.1.2.2).
  var typePreference: UInt32 {
    switch self {
    case .host: 126
    case .peerReflexive: 110
    case .serverReflexive: 100
    case .relayed: 0
    }
  }
}

/// A UDP candidate for the one component (RTP and RTCP multiplexed), of either side.
package struct ICECandidate: Hashable, Sendable {
  /// The transport address that datagrams are sent to.
  package var address: SocketAddress
  /// RFC 8445 §5.1.2: 1…2³¹−1.
  package var priority: UInt32
  /// How the address was found; decides the type preference inside the priority.
  package var kind: ICECandidateKind
  /// 1…32 ice-chars; equal for candidates that are alike in kind, base and server (RFC 8445 §5.1.1.3).
  package var foundation: String
  /// The base of a reflexive candidate or the mapped address of a relayed one, for diagnostics.
  package var relatedAddress: SocketAddress?
  /// What carries the datagrams of a candidate of ours on this machine; of no meaning for the remote peer's.
  package var carrier: Route.Kind

  /// Takes all values as they are; nothing is checked.
  package init(
    address: SocketAddress, priority: UInt32, kind: ICECandidateKind, foundation: String,
    relatedAddress: SocketAddress? = nil, carrier: Route.Kind = .udp(port: 0)
  ) {
    self.address = address
    self.priority = priority
    self.kind = kind
    self.foundation = foundation
    self.relatedAddress = relatedAddress
    self.carrier = carrier
  }

  /// From a candidate attribute (RFC 8839 §5.1). Nil, and rightly ignored, when the candidate is not for UDP or not for
  /// component 1, or when its address is a name (`.local` or FQDN).
  package init?(_ text: CandidateDescription) {
    guard text.component == 1, case .udp = text.transport, case .ip(let ip) = text.address else { return nil }
    self.init(
      address: SocketAddress(ip: ip, port: text.port), priority: text.priority, kind: text.kind,
      foundation: text.foundation)
  }

  /// Candidate priority (RFC 8445 §5.1.2.1) for component 1.
  package static func priority(kind: ICECandidateKind, localPreference: UInt16) -> UInt32 {
    kind.typePreference << 24 | UInt32(localPreference) << 8 | 255
  }

  /// The local preference inside `priority`.
  var localPreference: UInt16 { UInt16(truncatingIfNeeded: priority >> 8) }

  /// A datagram may be sent there: an address of one host with a port.
  var isReachableInPrinciple: Bool {
    guard address.port != 0, !address.ip.isUnspecified else { return false }
    switch address.ip {
    case .v4(let value): return value >> 28 < 0xE && value >> 24 != 0
    case .v6(let high, _, _): return high >> 56 != 0xFF
    }
  }
}

extension ICECandidate {
  /// Host candidates for the given interface addresses on one port, with priorities and foundations.
  ///
  /// The order given is the order of preference within a family; the families alternate, IPv6 first, so that one
  /// broken family delays nothing (RFC 8421 §4). Link-local addresses come after global ones, loopback last.
  /// - Parameter addresses: unspecified addresses and repeats are left out. Link-local IPv6 addresses get
  ///   `interfaceIndex` as their scope.
  package static func hosts(
    addresses: [(address: IPAddress, interfaceIndex: UInt32)], port: UInt16
  ) -> [ICECandidate] {
    var seen: Set<IPAddress> = []
    var tiers: [[IPAddress]] = [[], [], []]
    for (address, index) in addresses {
      let ip = scoped(address, interfaceIndex: index)
      guard !ip.isUnspecified, seen.insert(ip).inserted else { continue }
      tiers[ip.isLoopback ? 2 : ip.isLinkLocal ? 1 : 0].append(ip)
    }
    let ordered = tiers.flatMap(alternatingFamilies)
    return ordered.enumerated().map { rank, ip in
      ICECandidate(
        address: SocketAddress(ip: ip, port: port),
        priority: priority(kind: .host, localPreference: UInt16(max(0, 65_535 - 256 * rank))), kind: .host,
        foundation: foundation(kind: .host, base: ip))
    }
  }

  /// A foundation of decimal digits, the same for the same kind and base address.
  static func foundation(kind: ICECandidateKind, base: IPAddress) -> String {
    let bytes = Array("\(kind) \(base)".utf8)
    return String(CRC32.checksum(bytes.span))
  }

  private static func scoped(_ ip: IPAddress, interfaceIndex: UInt32) -> IPAddress {
    guard case .v6(let high, let low, _) = ip else { return ip }
    return .v6(high: high, low: low, scope: ip.isLinkLocal ? interfaceIndex : 0)
  }

  private static func alternatingFamilies(_ addresses: [IPAddress]) -> [IPAddress] {
    let six = addresses.filter { !$0.isV4 }
    let four = addresses.filter(\.isV4)
    var result: [IPAddress] = []
    for i in 0..<max(six.count, four.count) {
      if i < six.count { result.append(six[i]) }
      if i < four.count { result.append(four[i]) }
    }
    return result
  }
}

extension CandidateDescription {
  /// The attribute by which a candidate of ours is signalled.
  package init(_ candidate: ICECandidate) {
    self.init(
      foundation: candidate.foundation, priority: candidate.priority, address: .ip(candidate.address.ip),
      port: candidate.address.port, kind: candidate.kind)
  }
}

extension IPAddress {
  /// The same address without its scope: what signalling and STUN carry.
  var withoutScope: IPAddress {
    guard case .v6(let high, let low, _) = self else { return self }
    return .v6(high: high, low: low, scope: 0)
  }
}

extension SocketAddress {
  var withoutScope: SocketAddress { SocketAddress(ip: ip.withoutScope, port: port) }
}

extension Route {
  /// The route by which a pair is known: scopes differ between what is signalled and what the socket reports.
  var key: Route { Route(local: local.withoutScope, remote: remote.withoutScope, kind: kind) }
}
