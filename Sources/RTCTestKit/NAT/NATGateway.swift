package import RTCPrimitives

/// A NAT with one external address, and its table of mappings. Owned by a `VirtualInternet`, or by a test of its
/// filtering.
package struct NATGateway {
  private struct Mapping {
    let inside: SocketAddress
    /// The remote address of the packets that it serves; nil: all.
    let remoteIP: IPAddress?
    let remotePort: UInt16?
    let port: UInt16
    var contacted: Set<SocketAddress> = []
    var usedAt: Timestamp
  }

  /// How it behaves.
  package let kind: NATKind
  /// Its external address.
  package let externalIP: IPAddress
  private var mappings: [Mapping] = []
  private var nextPort: UInt16

  /// A NAT without mappings; the ports that it gives follow from `seed`.
  package init(_ kind: NATKind, externalIP: IPAddress, seed: UInt64) {
    self.kind = kind
    self.externalIP = externalIP
    var random = SeededGenerator(seed: seed)
    nextPort = 20_000 + UInt16(random.next() % 10_000)
  }

  /// The source that a packet has on the outside; nil when it is dropped.
  package mutating func outbound(from inside: SocketAddress, to remote: SocketAddress, now: Timestamp) -> SocketAddress?
  {
    guard !kind.blocksUDP else { return nil }
    mappings.removeAll { now - $0.usedAt > kind.timeout }
    let remoteIP = kind.mapping == .endpointIndependent ? nil : remote.ip
    let remotePort = kind.mapping == .addressAndPortDependent ? remote.port : nil
    var index = mappings.firstIndex {
      $0.inside == inside && $0.remoteIP == remoteIP && $0.remotePort == remotePort
    }
    if index == nil {
      nextPort = nextPort >= 60_000 ? 20_000 : nextPort + 3
      mappings.append(
        Mapping(inside: inside, remoteIP: remoteIP, remotePort: remotePort, port: nextPort, usedAt: now))
      index = mappings.count - 1
    }
    mappings[index!].contacted.insert(remote)
    mappings[index!].usedAt = now
    return SocketAddress(ip: externalIP, port: mappings[index!].port)
  }

  /// The internal destination of a packet to an external port; nil if it is dropped.
  package func inbound(to port: UInt16, from remote: SocketAddress, now: Timestamp) -> SocketAddress? {
    guard !kind.blocksUDP, let mapping = mappings.first(where: { $0.port == port && now - $0.usedAt <= kind.timeout })
    else { return nil }
    let isLetIn =
      switch kind.filtering {
      case .endpointIndependent: true
      case .addressDependent: mapping.contacted.contains { $0.ip == remote.ip }
      case .addressAndPortDependent: mapping.contacted.contains(remote)
      }
    return isLetIn ? mapping.inside : nil
  }

  /// Forgets all mappings, as when it starts again.
  package mutating func forgetMappings() { mappings.removeAll() }
}
