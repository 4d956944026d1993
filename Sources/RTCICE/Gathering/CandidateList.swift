import RTCPrimitives

/// The candidates that bases and servers come to, with their priorities and foundations (RFC 8445 §5.1.1–§5.1.3).
struct CandidateList {
  private(set) var candidates: [ICECandidate] = []

  init(bases: [CandidateGatherer.Base], queries: [STUNServerQuery], allocations: [TURNAllocation]) {
    let hosts = ICECandidate.hosts(bases)
    candidates = hosts
    for query in queries {
      if let mapped = query.mappedAddress { addReflexive(mapped, link: query.link, hosts: hosts) }
    }
    for allocation in allocations {
      guard let lease = allocation.lease else { continue }
      if allocation.link.server.transport == .udp, let mapped = lease.mapped {
        addReflexive(mapped, link: allocation.link, hosts: hosts)
      }
      for relayed in lease.relayed { addRelayed(relayed, lease: lease, allocation: allocation) }
    }
    candidates.sort { ($0.priority, "\($1.address)") > ($1.priority, "\($0.address)") }
  }

  // MARK: - From servers

  /// The address that a NAT gives to a base. None where there is no NAT, and only one where servers agree.
  private mutating func addReflexive(_ mapped: SocketAddress, link: ServerLink, hosts: [ICECandidate]) {
    guard !hosts.contains(where: { $0.address.withoutScope == mapped }), let local = link.localAddress,
      mapped != local.withoutScope
    else { return }
    let base = Self.base(of: local, carrier: link.route.kind, among: hosts)
    let related = base?.address.withoutScope ?? local.withoutScope
    guard
      !candidates.contains(where: {
        $0.kind == .serverReflexive && $0.address == mapped && $0.relatedAddress == related
      })
    else { return }
    let preference = base?.localPreference ?? 0
    candidates.append(
      ICECandidate(
        address: mapped, priority: ICECandidate.priority(kind: .serverReflexive, localPreference: preference),
        kind: .serverReflexive,
        foundation: ICECandidate.foundation(kind: .serverReflexive, base: related.ip), relatedAddress: related,
        carrier: base?.carrier ?? link.route.kind))
  }

  private static func base(
    of local: SocketAddress, carrier: Route.Kind, among hosts: [ICECandidate]
  ) -> ICECandidate? {
    let own = hosts.filter { $0.carrier == carrier && $0.address.ip.isV4 == local.ip.isV4 }
    if local.ip.isUnspecified { return own.first }
    return own.first { $0.address.withoutScope == local.withoutScope }
  }

  /// A relay by UDP is better than one by TCP, which holds later packets back behind a lost one, and that better than one by
  /// TLS; among equals the server that answered sooner is nearer.
  private mutating func addRelayed(_ relayed: SocketAddress, lease: TURNLease, allocation: TURNAllocation) {
    let server = allocation.link.server
    let slowness = min(Int64(0x1FFF), max(0, lease.answerTime.milliseconds))
    let preference =
      UInt16(3 - server.transport.rawValue) << 14 | UInt16(0x1FFF - slowness) << 1 | (relayed.ip.isV4 ? 0 : 1)
    candidates.append(
      ICECandidate(
        address: relayed, priority: ICECandidate.priority(kind: .relayed, localPreference: preference), kind: .relayed,
        foundation: ICECandidate.foundation(kind: .relayed, base: relayed.ip),
        relatedAddress: lease.mapped ?? lease.local.withoutScope, carrier: .relay(allocation.relayNumber)))
  }
}
