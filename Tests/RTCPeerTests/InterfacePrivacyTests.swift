import RTCNet
import RTCPeer
import RTCPrimitives
import Testing

@Suite struct InterfacePrivacyTests {
  private static func ip(_ text: String) -> IPAddress { IPAddress(text)! }

  private static func address(_ name: String, _ index: UInt32, _ text: String) -> InterfaceAddress {
    InterfaceAddress(name: name, index: index, address: ip(text), isUp: true, isLoopback: name == "lo")
  }

  /// A laptop with a cable, a container bridge, a VPN, and a cable to a device.
  private static let addresses = [
    address("eth0", 2, "192.168.1.5"), address("eth0", 2, "2001:db8::5"), address("docker0", 3, "172.17.0.1"),
    address("wg0", 4, "10.8.0.2"), address("eth1", 5, "10.0.0.1"),
  ]

  private static func source(towards remote: IPAddress) -> IPAddress? {
    switch "\(remote)".split(separator: ".").prefix(2).joined(separator: ".") {
    case "10.8": ip("10.8.0.2")
    case "172.17": ip("172.17.0.1")
    case "10.0": ip("10.0.0.1")
    default: ip("192.168.1.5")
    }
  }

  private func hidden(
    from remote: String?, servers: [String] = [], outward: Set<String> = ["eth0"],
    of addresses: [InterfaceAddress] = addresses
  ) -> [String] {
    InterfacePrivacy(addresses, outward: outward, source: Self.source)
      .hidden(from: remote.map(Self.ip), servers: servers.map(Self.ip)).map(\.description).sorted()
  }

  @Test func `a stranger learns of no container and no VPN`() {
    #expect(hidden(from: nil) == ["10.8.0.2", "172.17.0.1"])
    #expect(hidden(from: "203.0.113.7") == ["10.0.0.1", "10.8.0.2", "172.17.0.1"])
    #expect(hidden(from: "192.168.1.9") == ["10.0.0.1", "10.8.0.2", "172.17.0.1"])
  }

  @Test func `who is reached by an interface learns its address`() {
    #expect(hidden(from: "10.8.0.9") == ["10.0.0.1", "172.17.0.1"])
    #expect(hidden(from: "172.17.0.3") == ["10.0.0.1", "10.8.0.2"])
    #expect(hidden(from: "10.0.0.2") == ["10.8.0.2", "172.17.0.1"])
    #expect(hidden(from: nil, servers: ["10.8.0.1"]) == ["172.17.0.1"], "the hub is on the VPN")
  }

  @Test func `a tunnel that everything goes through is the way out`() {
    #expect(hidden(from: nil, outward: ["eth0", "wg0"]) == ["172.17.0.1"])
  }

  @Test func `a browser on this machine says nothing of the way, and something is always left`() {
    #expect(hidden(from: "127.0.0.1") == hidden(from: nil))
    #expect(hidden(from: nil, outward: [], of: [Self.address("docker0", 3, "172.17.0.1")]).isEmpty)
  }
}
