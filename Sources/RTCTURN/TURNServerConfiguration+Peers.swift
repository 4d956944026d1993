import RTCICE
import RTCPrimitives

/// Decides with which peers clients of the TURN server may exchange data. Such data comes from this machine, which firewalls and
/// services trust more than the client.
///
/// - Loopback, link-local, multicast and unspecified addresses, those of cloud services, and IPv6 addresses that hide an IPv4
///   address are never allowed.
/// - Private addresses are allowed if the user says so.
/// - Of this machine, only relayed addresses and its own media are allowed.
/// - Ports of services that answer with larger datagrams are not allowed.
extension TURNServerConfiguration {
  /// Whether a permission for the address may be made. The port is checked with each datagram.
  func allowsPeer(at ip: IPAddress) -> Bool {
    if isOwn(ip) { return true }
    guard CandidatePolicy.refusal(of: SocketAddress(ip: ip, port: 443), isLearned: true) == nil,
      !ip.isLoopback, !ip.isLinkLocal, !Self.hidesIPv4(ip)
    else { return false }
    return allowsPrivatePeers || !Self.isPrivate(ip)
  }

  /// Whether data may be sent to the address. Of this machine, relayed addresses are not asked for here.
  func allowsData(to peer: SocketAddress) -> Bool {
    if isOwn(peer.ip) { return openPorts.contains(peer.port) }
    return allowsPeer(at: peer.ip) && CandidatePolicy.refusal(of: peer) == nil
  }

  /// Whether this machine has the address.
  func isOwn(_ ip: IPAddress) -> Bool {
    guard !ip.isLoopback, !ip.isLinkLocal, !ip.isUnspecified else { return false }
    return ownIPs.contains(ip) || (!outside.isEmpty && outside.values.contains(ip))
  }

  /// The addresses that `isPrivate` has, and those that no host on the internet has: 192.0.0/24, 198.18/15, fec0::/10.
  private static func isPrivate(_ ip: IPAddress) -> Bool {
    switch ip {
    case .v4(let value): ip.isPrivate || value >> 8 == 0xC0_0000 || value >> 17 == 0xC612 >> 1
    case .v6(let high, _, _): ip.isPrivate || high >> 54 == 0x3FB
    }
  }

  /// Addresses by which a gateway or tunnel reaches an IPv4 address: ::ffff:0:0/96, ::/96, 64:ff9b::/96 and 64:ff9b:1::/48
  /// (RFC 6052, RFC 8215), 2002::/16 (RFC 3056), 2001::/32 (RFC 4380).
  private static func hidesIPv4(_ ip: IPAddress) -> Bool {
    guard case .v6(let high, let low, _) = ip else { return false }
    if high == 0 { return low >> 48 == 0 || low >> 32 == 0xFFFF }
    return high >> 32 == 0x0064_FF9B || high >> 48 == 0x2002 || high >> 32 == 0x2001_0000
  }
}
