import RTCPrimitives
import RTCWire
import Testing

@Suite struct TrickleFragmentTests {
  /// The example of RFC 9725 §4.3.1, addresses aside.
  static let patch = """
    a=group:BUNDLE 0 1\r
    m=audio 9 UDP/TLS/RTP/SAVPF 111\r
    a=mid:0\r
    a=ice-ufrag:EsAw\r
    a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
    a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r
    a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host generation 0 ufrag EsAw network-id 2\r
    a=end-of-candidates\r

    """

  @Test func `a WHIP patch is understood`() throws {
    let fragment = try TrickleFragment(parsing: Self.patch)
    #expect(fragment.bundle == ["0", "1"])
    #expect(fragment.credentials == nil)
    #expect(
      fragment.effectiveCredentials
        == ICECredentials(usernameFragment: "EsAw", password: "P2uYro0UCOQ4zxjKXaWCBui1"))
    #expect(fragment.sections.map(\.mid) == ["0"] && fragment.sections[0].kind == .audio)
    #expect(fragment.candidates.map(\.port) == [61764, 61765])
    #expect(fragment.isComplete)
  }

  @Test func `what is written reads the same`() throws {
    let fragment = try TrickleFragment(parsing: Self.patch)
    #expect(try TrickleFragment(parsing: fragment.description) == fragment)
    var restart = TrickleFragment()
    restart.credentials = ICECredentials(usernameFragment: "abcd", password: "0123456789012345678901")
    restart.iceOptions = ["trickle", "ice2"]
    #expect(try TrickleFragment(parsing: restart.description) == restart)
    #expect(!restart.isComplete && restart.sections.isEmpty)
  }

  @Test func `candidates before any section count`() throws {
    let fragment = try TrickleFragment(
      parsing: "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\n"
        + "a=end-of-candidates\n")
    #expect(fragment.candidates.count == 1 && fragment.sections[0].mid == nil && fragment.isComplete)
    #expect(try TrickleFragment(parsing: fragment.description) == fragment)
  }

  @Test func `ICE options count wherever they stand`() throws {
    let fragment = try TrickleFragment(parsing: "a=ice-options:ice2\nm=audio 9 RTP/AVP 0\na=ice-options:trickle ice2\n")
    #expect(fragment.iceOptions == ["ice2", "trickle"])
  }

  @Test func `rubbish is refused`() throws {
    #expect(throws: SDPError(line: 1, reason: .notALine)) { try TrickleFragment(parsing: "rubbish") }
    #expect(throws: SDPError(line: 1, reason: .invalid("mid"))) { try TrickleFragment(parsing: "a=mid:0") }
    #expect(throws: SDPError.self) { try TrickleFragment(parsing: String(repeating: "m=a 9 x 0\n", count: 65)) }
    #expect(try TrickleFragment(parsing: "") == TrickleFragment())
  }
}
