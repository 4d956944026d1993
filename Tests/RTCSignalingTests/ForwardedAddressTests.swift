import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct ForwardedAddressTests {
  private let proxies = [AddressPrefix("127.0.0.1")!, AddressPrefix("10.0.0.0/8")!, AddressPrefix("2001:db8:f::/48")!]

  private func client(
    _ connection: String = "127.0.0.1", forwarded: [String] = [], _ forwardedFor: String...
  ) -> String? {
    ForwardedAddress.client(of: connection, forwarded: forwarded, forwardedFor: forwardedFor, trusting: proxies)
  }

  @Test func `B8: a header from another address has no effect`() {
    #expect(client("192.0.2.9", "203.0.113.5") == "192.0.2.9")
    #expect(client("192.0.2.9", forwarded: ["for=203.0.113.5"]) == "192.0.2.9")
    #expect(
      ForwardedAddress.client(of: "127.0.0.1", forwarded: [], forwardedFor: ["1.2.3.4"], trusting: []) == "127.0.0.1")
  }

  @Test func `B8: of X-Forwarded-For the last entry counts that is no proxy's`() {
    #expect(client() == "127.0.0.1")
    #expect(client("127.0.0.1", "203.0.113.5") == "203.0.113.5")
    #expect(
      client("127.0.0.1", "6.6.6.6, 203.0.113.5, 10.1.1.1") == "203.0.113.5", "the first is the client's own word")
    #expect(client("127.0.0.1", "6.6.6.6", "203.0.113.5,10.1.1.1") == "203.0.113.5", "two headers are one list")
    #expect(client("127.0.0.1", "10.1.1.1") == "10.1.1.1")
    #expect(client("127.0.0.1", "203.0.113.5:4711") == "203.0.113.5")
    #expect(client("127.0.0.1", "[2001:db8::5%eth0]:80") == "2001:db8::5")
    #expect(client("127.0.0.1", "2001:db8::5") == "2001:db8::5")
    #expect(client("::ffff:10.0.0.1", "203.0.113.5") == "203.0.113.5")
  }

  @Test(arguments: ["unknown", "", "host.example", "203.0.113.5:x", "[2001:db8::5", "1.2.3", "_hidden"])
  func `B8: where a hop is no address, the one before it is the client`(entry: String) {
    #expect(client("127.0.0.1", "203.0.113.5, \(entry)") == "127.0.0.1")
    #expect(client("127.0.0.1", "\(entry), 10.1.1.1") == "10.1.1.1")
  }

  @Test func `B8: a header that the proxy passes on cannot contradict the one that it adds`() {
    #expect(client("127.0.0.1", forwarded: ["for=6.6.6.6"], "203.0.113.5") == nil)
    #expect(client("127.0.0.1", forwarded: ["for=203.0.113.5;proto=https"], "6.6.6.6") == nil)
    #expect(client("127.0.0.1", forwarded: ["proto=https"], "203.0.113.5") == nil)
    #expect(client("127.0.0.1", forwarded: ["for=203.0.113.5"], "6.6.6.6, 203.0.113.5") == "203.0.113.5")
    #expect(client("192.0.2.9", forwarded: ["for=6.6.6.6"], "203.0.113.5") == "192.0.2.9")
  }

  @Test func `B8: two Forwarded headers, zones and ports`() {
    #expect(client(forwarded: ["for=203.0.113.5;proto=https"]) == "203.0.113.5")
    #expect(client(forwarded: ["for=203.0.113.5:_web.1"]) == "203.0.113.5")
    #expect(client(forwarded: [#"for="[fe80::5%25eth0]:99999""#]) == "fe80::5")
    #expect(client(forwarded: ["for=203.0.113.5:123456"]) == "127.0.0.1")
    #expect(client(forwarded: ["for=203.0.113.5:_"]) == "127.0.0.1")
    // A quote that the client has left open ends with its own entry.
    #expect(client(forwarded: [#"for="6.6.6.6"#, "for=203.0.113.5"]) == "203.0.113.5")
    #expect(client(forwarded: [#"for="6.6.6.6, for=203.0.113.5"#]) == "203.0.113.5")
    #expect(client(forwarded: [#"For="[2001:db8::5]:4711";by=10.0.0.1"#]) == "2001:db8::5")
    #expect(client(forwarded: ["for=6.6.6.6", "for=203.0.113.5, for=10.1.1.1"]) == "203.0.113.5")
    #expect(client(forwarded: ["proto=https"]) == "127.0.0.1")
    #expect(client(forwarded: ["for=unknown, for=10.1.1.1"]) == "10.1.1.1")
  }

  @Test func `B8: a long list costs its last entries`() {
    let list = String(repeating: "10.1.1.1,", count: 2_000) + "203.0.113.5"
    #expect(client("127.0.0.1", list) == "203.0.113.5")
  }
}
