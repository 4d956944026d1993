package import RTCPrimitives

/// Decides which addresses of remote candidates may be checked. A remote peer can name any address, and each gets a few
/// requests of about 100 bytes: this policy protects addresses that cannot belong to a peer, and that requests might
/// harm.
///
/// The rules and their reasons:
/// - Private and link-local addresses are allowed: peers in one house connect by them. Not from a public address of
///   ours (`ICEAgent.formPair`), from where they belong to somebody else.
/// - Loopback is allowed only from a loopback candidate of our own, which is offered for peers on the same machine only
///   (`ICEAgent.formPair`); never through a relay, whose loopback is another machine's.
/// - Addresses of our own are allowed: two peers of one event loop share its port. A request names its receiver, so
///   that no agent can be made to talk to itself.
/// - Addresses that an authentic request reveals are allowed with any port: a NAT may assign any.
package enum CandidatePolicy {
  package enum Refusal: Hashable {
    /// No host has it: port 0, 0/8, ::, 240/4 with the broadcast address.
    case impossible
    /// Many hosts have it: one datagram would reach all of them.
    case multicast
    /// It hides an IPv4 address within an IPv6 address (RFC 4291 §2.5.5), which the other rules would not detect.
    case disguised
    /// A cloud's metadata or platform service, which trusts all requests from the machine itself.
    case cloudService
    /// A well-known service that is no peer. The rule of libwebrtc: ports below 1024 are for 80 and 443 alone, and those on
    /// public addresses; further some services above them that answer datagrams with larger ones, or obey them.
    case servicePort
  }

  /// Why no check may be sent to a candidate of the remote peer's; nil when it may.
  /// - Parameter isLearned: it was learned from an authentic request from there.
  package static func refusal(of address: SocketAddress, isLearned: Bool = false) -> Refusal? {
    if address.port == 0 { return .impossible }
    if let refusal = refusal(of: address.ip) { return refusal }
    return isLearned || isAllowed(port: address.port, isPublic: isPublic(address.ip)) ? nil : .servicePort
  }

  private static func refusal(of ip: IPAddress) -> Refusal? {
    switch ip {
    case .v4(let value):
      if value >> 24 == 0 { return .impossible }
      if value >> 28 == 0xE { return .multicast }
      if value >> 28 == 0xF { return .impossible }
      return cloudServicesV4.contains(value) ? .cloudService : nil
    case .v6(let high, let low, _):
      if high == 0, low == 0 { return .impossible }
      if high >> 56 == 0xFF { return .multicast }
      if high == 0, low != 1, low >> 48 == 0 || low >> 32 == 0xFFFF { return .disguised }
      return high == 0xFD00_0EC2_0000_0000 && cloudServicesV6.contains(low) ? .cloudService : nil
    }
  }

  /// 169.254.169.254 (most clouds), .253 and .123 (DNS and time of AWS), 169.254.170.2 and .23 (credentials of containers on
  /// AWS), 100.100.100.200 (Alibaba), 168.63.129.16 (Azure), 192.0.0.192 (Oracle).
  private static let cloudServicesV4: Set<UInt32> = [
    0xA9FE_A9FE, 0xA9FE_A9FD, 0xA9FE_A97B, 0xA9FE_AA02, 0xA9FE_AA17, 0x6464_64C8, 0xA83F_8110, 0xC000_00C0,
  ]
  /// fd00:ec2::254, ::253, ::123 and ::23: the same services of AWS.
  private static let cloudServicesV6: Set<UInt64> = [0x254, 0x253, 0x123, 0x23]

  private static func isAllowed(port: UInt16, isPublic: Bool) -> Bool {
    if port < 1_024 { return isPublic && (port == 80 || port == 443) }
    return !servicePorts.contains(port)
  }

  /// SSDP, WS-Discovery, NAT-PMP, mDNS, memcached.
  private static let servicePorts: Set<UInt16> = [1_900, 3_702, 5_351, 5_353, 11_211]

  static func isPublic(_ ip: IPAddress) -> Bool {
    switch ip {
    case .v4(let value):
      !ip.isLoopback && !ip.isLinkLocal && value >> 24 != 10 && value >> 20 != 0xAC1 && value >> 16 != 0xC0A8
        && value >> 22 != 0x191
    case .v6(let high, _, _): !ip.isLoopback && !ip.isLinkLocal && high >> 57 != 0x7E
    }
  }
}
