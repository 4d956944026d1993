import CLinux
package import RTCPrimitives

/// One address of one network interface.
package struct InterfaceAddress: Hashable, Sendable {
  /// The interface's name, such as `eth0`.
  package var name: String
  /// The interface's index, which is also the scope of its link-local addresses.
  package var index: UInt32
  /// One address of the interface, IPv4 or IPv6.
  package var address: IPAddress
  /// Switched on and with a carrier.
  package var isUp: Bool
  /// True for a loopback interface, which reaches this machine alone.
  package var isLoopback: Bool

  /// An address as given; whether this machine has it is not checked.
  package init(name: String, index: UInt32, address: IPAddress, isUp: Bool, isLoopback: Bool) {
    self.name = name
    self.index = index
    self.address = address
    self.isUp = isUp
    self.isLoopback = isLoopback
  }
}

/// The addresses of this machine.
package enum NetworkInterfaces {
  /// All IPv4 and IPv6 addresses in the kernel's order, each once. Any thread; takes about 50 µs.
  package static func addresses() throws(SystemError) -> [InterfaceAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    try SystemError.check(
      unsafe clinux_interfaces_open(&list), call: "getifaddrs", subject: "Listing the network interfaces")
    defer { unsafe freeifaddrs(list) }
    var found: [InterfaceAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      unsafe next = entry.pointee.ifa_next
      var raw = clinux_interface()
      guard unsafe clinux_interface_read(entry, &raw) != 0 else { continue }
      let address = InterfaceAddress(
        name: unsafe String(cString: entry.pointee.ifa_name), index: raw.index, address: raw.address.ip,
        isUp: raw.is_up != 0, isLoopback: raw.is_loopback != 0)
      if !found.contains(address) { found.append(address) }
    }
    return found
  }

  /// The addresses for ICE host candidates (RFC 8445 §5.1.1.1): those of interfaces that are up, without link-local
  /// ones if the interface has a routable address of the same IP version. Loopback addresses are left out unless
  /// requested or the only ones.
  package static func hostCandidates(
    from addresses: [InterfaceAddress], includeLoopback: Bool = false
  ) -> [IPAddress] {
    hostAddresses(from: addresses, includeLoopback: includeLoopback).map(\.address)
  }

  /// These addresses with their interfaces, each once.
  package static func hostAddresses(
    from addresses: [InterfaceAddress], includeLoopback: Bool = false
  ) -> [InterfaceAddress] {
    let up = addresses.filter { $0.isUp && !$0.address.isUnspecified }
    let outward = up.filter { candidate in
      guard !candidate.isLoopback, !candidate.address.isLoopback else { return false }
      guard candidate.address.isLinkLocal else { return true }
      return !up.contains {
        $0.index == candidate.index && $0.address.isV4 == candidate.address.isV4 && !$0.address.isLinkLocal
      }
    }
    let loopback = up.filter { $0.address.isLoopback }
    var chosen: [InterfaceAddress] = []
    for entry in outward + (includeLoopback || outward.isEmpty ? loopback : [])
    where !chosen.contains(where: { $0.address == entry.address }) {
      chosen.append(entry)
    }
    return chosen
  }

  /// The address of this machine that the kernel would send from to `remote`; nil when it knows no way. Any thread; takes a few
  /// microseconds and sends nothing.
  package static func source(towards remote: SocketAddress) -> IPAddress? {
    var target = clinux_address(remote)
    var source = clinux_address(high: 0, low: 0, scope: 0, port: 0, is_v6: 0)
    return unsafe clinux_udp_source(&target, &source) == 0 ? source.ip : nil
  }
}
