import RTCSignaling
import Testing

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080"), ("localhost:0", "localhost:0"), ("[::1]:9", "[::1]:9"), ("[::]", "[::]:0"),
    ("8080", "127.0.0.1:8080"), (":8080", "[::]:8080"), ("example.org", "example.org:0"),
    ("[fe80::1%eth0]:80", "[fe80::1%eth0]:80"),
  ]) func `an address to listen at is read in each of its forms`(text: String, expected: String) throws {
    #expect(try ListenAddress(parsing: text).description == expected)
  }

  @Test(arguments: [
    "", ":", "host:", "host:abc", "host:-1", "ho st:80", "[::1", "[zz zz]:80", "a:b:c", "[::1]x", "a/b:80",
  ]) func `what is no address is refused`(text: String) {
    #expect(throws: ListenAddressError.self) { try ListenAddress(parsing: text) }
  }

  @Test func `a port beyond 65535 is named`() {
    #expect(throws: ListenAddressError.portTooLarge("65536")) { try ListenAddress(parsing: "127.0.0.1:65536") }
    #expect(throws: ListenAddressError.portTooLarge("99999999999999999999")) {
      try ListenAddress(parsing: "99999999999999999999")
    }
  }

  @Test func `bare IPv6 is asked for in brackets`() {
    #expect(throws: ListenAddressError.bareIPv6("::1:8080")) { try ListenAddress(parsing: "::1:8080") }
  }

  @Test(arguments: ["127.0.0.1:80", "127.3.2.1:80", "localhost:80", "LOCALHOST:80", "[::1]:80", "[0:0:0:0:0:0:0:1]:80"])
  func `this machine alone reaches loopback`(text: String) throws {
    #expect(try ListenAddress(parsing: text).host.isLoopback)
  }

  @Test(arguments: [
    "0.0.0.0:80", "[::]:80", ":80", "192.168.1.7:80", "example.org:80", "127.evil.example:80",
    "localhost.evil.example:80",
    "[::ffff:127.0.0.1]:80", "127.0.0.256:80",
  ]) func `others may reach anything else`(text: String) throws {
    #expect(!(try ListenAddress(parsing: text).host.isLoopback))
  }

  @Test func `the link is one that a browser on this machine can open`() throws {
    #expect(try ListenAddress(parsing: "[::]:80").link(token: nil) == "http://[::1]:80/")
    #expect(
      try ListenAddress(parsing: "0.0.0.0:80").link(token: AccessToken("a&b")) == "http://127.0.0.1:80/#token=a%26b")
    #expect(try ListenAddress(parsing: "localhost:81").link(token: nil) == "http://localhost:81/")
  }
}
