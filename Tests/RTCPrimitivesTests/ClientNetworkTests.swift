import RTCPrimitives
import Testing

@Suite struct ClientNetworkTests {
  @Test func `B8: an IPv6 client is its network of 64 bits, an IPv4 client its address`() {
    #expect(ClientNetwork("2001:db8:1:2::1") == ClientNetwork("2001:db8:1:2:ffff:ffff:ffff:ffff"))
    #expect(ClientNetwork("2001:db8:1:2::1") != ClientNetwork("2001:db8:1:3::1"))
    #expect(ClientNetwork("192.0.2.1") != ClientNetwork("192.0.2.2"))
    #expect(ClientNetwork("::ffff:192.0.2.1") == ClientNetwork("192.0.2.1"))
    #expect(ClientNetwork("fe80::1%eth0") == ClientNetwork("fe80::2"))
    #expect(ClientNetwork("") == ClientNetwork("nonsense") && ClientNetwork("") != ClientNetwork("192.0.2.1"))
    #expect(ClientNetwork("127.0.0.1").isLoopback && ClientNetwork("::1").isLoopback)
    #expect(ClientNetwork("::ffff:127.0.0.1").isLoopback && !ClientNetwork("").isLoopback)
    #expect("\(ClientNetwork("2001:db8:1:2::9"))" == "2001:db8:1:2::/64")
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
    ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true), ("192.0.2.1/32", "192.0.2.1", true),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::1", "::1", true),
    ("2001:db8::/96", "2001:db8::ffff:ffff", true), ("2001:db8::/96", "2001:db8::1:0:0", false),
    ("::/0", "2001:db8::1", true), ("::/0", "192.0.2.1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
  ]) func `prefixes hold the addresses that begin like them`(prefix: String, address: String, isThere: Bool) throws {
    let address = try #require(IPAddress(address))
    #expect(try #require(AddressPrefix(prefix)).contains(address) == isThere)
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "host", "::/129",
  ])
  func `what is no prefix is refused`(text: String) { #expect(AddressPrefix(text) == nil) }
}
