import RTCPrimitives
import Testing

@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("::", "::"), ("2001:db8::1", "2001:db8::1"),
    ("2001:0db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("fe80::fc:ff:fe00:1", "fe80::fc:ff:fe00:1"),
    ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("::ffff:192.0.2.128", "::ffff:c000:280"), ("1::", "1::"),
    ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
  ]) func `parses and formats`(_ text: String, _ canonical: String) {
    #expect(IPAddress(text)?.description == canonical)
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.-4", "+1.2.3.4", ":", ":::", "1::2::3", "12345::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9", "g::1", "a.local", "+1::", "1:2:3:4:5:6:7::8::",
  ]) func `refuses what is no address`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `knows its kind`() {
    #expect(IPAddress("127.3.2.1")!.isLoopback && IPAddress("::1")!.isLoopback)
    #expect(IPAddress("169.254.0.9")!.isLinkLocal && IPAddress("fe80::1")!.isLinkLocal)
    #expect(!IPAddress("fd00::2")!.isLinkLocal)
  }
}
