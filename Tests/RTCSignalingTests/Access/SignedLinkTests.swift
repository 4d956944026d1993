import RTCSignaling
import Testing

@Suite struct SignedLinkTests {
  private let secret = AccessToken("sesame")!
  private let link = SignedLink(
    .call, issued: 1_700_000_000, expires: 1_700_007_200, uses: 3, id: "abcdefghijk", name: "Jörg", stream: nil)

  /// The grant of a link for a holder of the secret.
  private func grant(
    _ text: String, for right: AccessRight = .call, peer: String? = "Jörg", unix: Int64 = 1_700_000_100
  ) -> Result<AccessGrant, AccessRefusal> {
    Result { () throws(AccessRefusal) in
      try AccessGate(secret: secret).evaluate(
        text, for: right, peer: peer, from: "192.0.2.1", now: AccessTime(unix: unix, monotonic: .zero))
    }
  }

  @Test func `the text is as documented and means the same again`() throws {
    let text = link.signed(with: secret)
    #expect(text.hasPrefix("rl1.c.1700000000.1700007200.3.abcdefghijk.SsO2cmc.."))
    #expect(SignedLink.id(of: text) == "abcdefghijk")
    #expect(grant(text) == .success(.link(link)))
    #expect(AccessToken(text) != nil, "it goes where a token goes")
  }

  @Test func `any character altered, and nobody is let in`() {
    let text = link.signed(with: secret)
    let bytes = Array(text.utf8)
    for index in bytes.indices {
      for other in [UInt8(ascii: "A"), UInt8(ascii: "B"), UInt8(ascii: "."), bytes[index] ^ 1, bytes[index] ^ 4]
      where other != bytes[index] {
        var altered = bytes
        altered[index] = other
        #expect(grant(String(decoding: altered, as: UTF8.self)) == .failure(.wrong), "\(index)")
      }
    }
    for shorter in 1..<bytes.count {
      #expect(grant(String(decoding: bytes.prefix(shorter), as: UTF8.self)) == .failure(.wrong))
    }
    #expect(grant(text + "A") == .failure(.wrong))
    #expect(grant(link.signed(with: AccessToken("other-secret")!)) == .failure(.wrong))
  }

  @Test func `identifiers differ, and secrets that are made differ`() {
    #expect(Set((0..<100).map { _ in SignedLink.freshID() }).count == 100)
    #expect(Set((0..<100).map { _ in AccessToken.fresh() }).count == 100)
    #expect(AccessToken.fresh().text.utf8.count == 26)
  }

  @Test(arguments: [
    ("token=a%26b", "a&b"), ("room=x&token=y", "y"), ("token=y&room=x", "y"), ("bare", "bare"), ("room=x", nil),
    ("", nil),
  ]) func `a link's token is what stands behind its mark`(text: String, token: String?) {
    #expect(LinkFragment(text).token == token)
    #expect(LinkFragment.split("https://h/#" + text).address == "https://h/")
  }
}
