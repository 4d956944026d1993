import RTCNet
import RTCPrimitives
import Testing

@Suite struct NetworkInterfacesTests {
  private func entry(
    _ index: UInt32, _ text: String, scope: UInt32 = 0, isUp: Bool = true, isLoopback: Bool = false
  ) throws -> InterfaceAddress {
    var ip = try #require(IPAddress(text))
    if case .v6(let high, let low, _) = ip { ip = .v6(high: high, low: low, scope: scope) }
    return InterfaceAddress(name: "if\(index)", index: index, address: ip, isUp: isUp, isLoopback: isLoopback)
  }

  private func texts(_ entries: [InterfaceAddress], includeLoopback: Bool = false) -> [String] {
    NetworkInterfaces.hostCandidates(from: entries, includeLoopback: includeLoopback).map(\.description)
  }

  @Test func `this machine's list has loopback and no address twice`() throws {
    let addresses = try NetworkInterfaces.addresses()
    #expect(Set(addresses).count == addresses.count)
    #expect(addresses.contains { $0.address == .loopbackV4 && $0.isLoopback && $0.isUp && $0.index > 0 })
    #expect(!NetworkInterfaces.hostCandidates(from: addresses).isEmpty)
    #expect(
      addresses.allSatisfy { entry in
        guard case .v6(_, _, let scope) = entry.address, entry.address.isLinkLocal else { return true }
        return scope == entry.index
      })
  }

  @Test func `loopback is offered only when nothing else is there or when asked for`() throws {
    let loopback = try entry(1, "127.0.0.1", isLoopback: true)
    let outward = try entry(2, "192.0.2.1")
    #expect(texts([loopback, outward]) == ["192.0.2.1"])
    #expect(texts([loopback]) == ["127.0.0.1"])
    #expect(texts([loopback, outward], includeLoopback: true) == ["192.0.2.1", "127.0.0.1"])
  }

  @Test func `an interface that is down offers nothing`() throws {
    let entries = try [entry(2, "192.0.2.1", isUp: false), entry(3, "192.0.2.2")]
    #expect(texts(entries) == ["192.0.2.2"])
  }

  @Test func `a link-local address is offered only where its interface has no routable one`() throws {
    let entries = try [
      entry(2, "192.0.2.1"), entry(2, "fe80::1", scope: 2), entry(2, "2001:db8::1"), entry(3, "fe80::2", scope: 3),
    ]
    #expect(texts(entries) == ["192.0.2.1", "2001:db8::1", "fe80::2"])
  }

  @Test func `an address on two interfaces is offered once`() throws {
    let entries = try [entry(2, "192.0.2.1"), entry(3, "192.0.2.1")]
    #expect(texts(entries) == ["192.0.2.1"])
  }
}
