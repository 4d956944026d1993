import Glibc
package import RTCNet
package import RTCPrimitives

/// Finds the addresses that are not offered to a remote peer: those of interfaces that do not lead to it, such as those
/// of containers, virtual machines and VPNs, and of networks without a default route.
///
/// An interface leads to a remote peer if the kernel would send from it to the address of the peer, or of the server
/// that found it. Interfaces with a default route lead everywhere.
package struct InterfacePrivacy {
  /// Interfaces that have a default route, by name.
  private let outward: Set<String>
  private let addresses: [InterfaceAddress]
  private let source: (IPAddress) -> IPAddress?

  /// - Parameters:
  ///   - addresses: the addresses of this machine at which peers can reach it.
  ///   - outward: the names of interfaces that have a default route.
  ///   - source: the source address that the kernel would use towards an address.
  package init(
    _ addresses: [InterfaceAddress], outward: Set<String> = defaultRoutes(),
    source: @escaping (IPAddress) -> IPAddress? = { NetworkInterfaces.source(towards: SocketAddress(ip: $0, port: 9)) }
  ) {
    (self.addresses, self.outward, self.source) = (addresses, outward, source)
  }

  /// The addresses that are not offered to a remote peer.
  /// - Parameters:
  ///   - remote: the address of the remote peer; nil: unknown.
  ///   - servers: the servers by which remote peers are found.
  package func hidden(from remote: IPAddress?, servers: [IPAddress]) -> Set<IPAddress> {
    let remote = remote.flatMap { $0.isLoopback ? nil : $0 }
    let leading = Set((servers + (remote.map { [$0] } ?? [])).compactMap(source))
    let hidden = addresses.filter { each in
      if each.isLoopback || outward.contains(each.name) || leading.contains(each.address) { return false }
      // Beside the address that the kernel would take, an interface has others that lead to the same place.
      if addresses.contains(where: { $0.index == each.index && leading.contains($0.address) }) { return false }
      return Self.isVirtual(each.name) || remote != nil
    }
    // Without any address, no connection would be possible.
    return hidden.count == addresses.count ? [] : Set(hidden.map(\.address))
  }

  /// Bridges and tunnels of containers, virtual machines and VPNs, by the names that their programs give them.
  private static func isVirtual(_ name: String) -> Bool {
    [
      "br-", "cali", "cilium", "cni", "docker", "flannel", "ham", "kube", "lxc", "lxdbr", "nebula", "nordlynx", "ovs",
      "podman", "proton", "tailscale", "tap", "tun", "utun", "vboxnet", "veth", "virbr", "vmnet", "vnet", "wg", "zt",
    ].contains { name.hasPrefix($0) }
  }

  /// The interfaces with a default route, from the kernel's routing tables.
  package static func defaultRoutes() -> Set<String> {
    var names: Set<String> = []
    for line in lines(of: "/proc/net/route").dropFirst() {
      // Interface, destination, gateway, flags …, mask as the eighth.
      let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      if words.count > 7, words[1] == "00000000", words[7] == "00000000" { names.insert(String(words[0])) }
    }
    for line in lines(of: "/proc/net/ipv6_route") {
      // Destination, its prefix length …, interface last; the kernel's own "unreachable" is on lo.
      let words = line.split(separator: " ")
      guard words.count > 9, words[0].allSatisfy({ $0 == "0" }), words[1] == "00", words[9] != "lo" else { continue }
      names.insert(String(words[9]))
    }
    return names
  }

  private static func lines(of path: String) -> [Substring] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 16_384)
    // Routers of the whole internet have tables of megabytes, and default routes at their beginning.
    while bytes.count < 262_144 {
      let count = unsafe part.withUnsafeMutableBytes { buffer in unsafe read(file, buffer.baseAddress, buffer.count) }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }
}
