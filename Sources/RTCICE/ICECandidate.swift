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

/// A candidate for the one component (RTP and RTCP multiplexed), of either side: for UDP, or for TCP (RFC 6544).
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
  /// The carrier of a local candidate's datagrams; without meaning for remote candidates.
  package var carrier: Route.Kind
  /// The TCP type (RFC 6544 §4.5); nil for UDP. A passive candidate of ours stands for all connections that the remote
  /// peer opens to its address; an active one is an open connection to `relatedAddress`.
  package var tcpType: CandidateDescription.TCPType?
  /// The name that is signaled in place of the IP address: a multicast DNS name, which hides it.
  package var signaledName: String?

  /// Takes all values as they are; nothing is checked.
  package init(
    address: SocketAddress, priority: UInt32, kind: ICECandidateKind, foundation: String,
    relatedAddress: SocketAddress? = nil, carrier: Route.Kind = .udp(port: 0),
    tcpType: CandidateDescription.TCPType? = nil
  ) {
    self.address = address
    self.priority = priority
    self.kind = kind
    self.foundation = foundation
    self.relatedAddress = relatedAddress
    self.carrier = carrier
    self.tcpType = tcpType
  }

  /// From a candidate attribute (RFC 8839 §5.1). Nil, and rightly ignored, when the candidate is not for component 1, or
  /// when its address is a name, which must be resolved first.
  package init?(_ text: CandidateDescription) {
    guard case .ip(let ip) = text.address else { return nil }
    self.init(text, at: ip)
  }

  /// From a candidate attribute whose address was resolved. Nil when the candidate is not for component 1.
  package init?(_ text: CandidateDescription, at ip: IPAddress) {
    guard text.component == 1 else { return nil }
    var tcpType: CandidateDescription.TCPType?
    if case .tcp(let type) = text.transport { tcpType = type }
    self.init(
      address: SocketAddress(ip: ip, port: text.port), priority: text.priority, kind: text.kind,
      foundation: text.foundation, tcpType: tcpType)
  }

  /// Candidate priority (RFC 8445 §5.1.2.1) for component 1.
  package static func priority(kind: ICECandidateKind, localPreference: UInt16) -> UInt32 {
    kind.typePreference << 24 | UInt32(localPreference) << 8 | 255
  }

  /// The local preference inside `priority`.
  var localPreference: UInt16 { UInt16(truncatingIfNeeded: priority >> 8) }

  /// Reached by the same means at the same place.
  func isSame(as other: ICECandidate) -> Bool {
    address == other.address && carrier == other.carrier && tcpType == other.tcpType
  }

  /// Whether checks are sent from it: other local candidates are views of such a one (RFC 8445 §6.1.2.2).
  var isBase: Bool { kind == .host || kind == .relayed }
}

extension ICECandidate {
  /// Host candidates for the given interface addresses on one port, as for `hosts(_:)`.
  package static func hosts(
    addresses: [(address: IPAddress, interfaceIndex: UInt32)], port: UInt16
  ) -> [ICECandidate] {
    hosts(
      addresses.map {
        CandidateGatherer.Base(
          address: SocketAddress(ip: $0.address, port: port), interfaceIndex: $0.interfaceIndex)
      })
  }

  /// Host candidates for the addresses of our sockets, with priorities and foundations.
  ///
  /// The order given is the order of preference within a family; the families alternate, IPv6 first, so that one
  /// broken family delays nothing (RFC 8421 §4). Link-local addresses come after global ones, loopback last.
  /// Unspecified addresses and repeats are left out. Link-local IPv6 addresses get the interface's index as their scope.
  static func hosts(_ bases: [CandidateGatherer.Base]) -> [ICECandidate] {
    var seen: Set<SocketAddress> = []
    var tiers: [[CandidateGatherer.Base]] = [[], [], []]
    for var base in bases {
      let ip = scoped(base.address.ip, interfaceIndex: base.interfaceIndex)
      base.address.ip = ip
      guard !ip.isUnspecified, seen.insert(base.address).inserted else { continue }
      tiers[ip.isLoopback ? 2 : ip.isLinkLocal ? 1 : 0].append(base)
    }
    return tiers.flatMap(alternatingFamilies).enumerated().map { rank, base in
      ICECandidate(
        address: base.address,
        priority: priority(kind: .host, localPreference: UInt16(max(0, 65_535 - 256 * rank))), kind: .host,
        foundation: foundation(kind: .host, base: base.address.ip), carrier: base.carrier)
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

  private static func alternatingFamilies(_ bases: [CandidateGatherer.Base]) -> [CandidateGatherer.Base] {
    let six = bases.filter { !$0.address.ip.isV4 }
    let four = bases.filter(\.address.ip.isV4)
    var result: [CandidateGatherer.Base] = []
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
      foundation: candidate.foundation, transport: candidate.tcpType.map { .tcp($0) } ?? .udp,
      priority: candidate.priority,
      address: candidate.signaledName.map { .name($0) } ?? .ip(candidate.address.ip.withoutScope),
      port: candidate.address.port, kind: candidate.kind)
    // RFC 8839 §5.1 wants one of all but host candidates; this one says that it is kept back.
    let hidden = SocketAddress(
      ip: candidate.address.ip.isV4 ? .v4(0) : .v6(high: 0, low: 0, scope: 0), port: 9)
    if candidate.kind != .host {
      let related = candidate.relatedAddress ?? hidden
      self.related = Related(address: .ip(related.ip.withoutScope), port: related.port)
    }
  }
}

extension IPAddress {
  /// The address without its scope, as in signaling and STUN.
  package var withoutScope: IPAddress {
    guard case .v6(let high, let low, _) = self else { return self }
    return .v6(high: high, low: low, scope: 0)
  }
}

extension SocketAddress {
  var withoutScope: SocketAddress { SocketAddress(ip: ip.withoutScope, port: port) }
}

extension Route {
  /// The key of a pair's route: scopes differ between signaled addresses and those that sockets report.
  var key: Route { Route(local: local.withoutScope, remote: remote.withoutScope, kind: kind) }
}
