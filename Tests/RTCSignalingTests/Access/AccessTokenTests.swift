import RTCSignaling
import Testing

@Suite struct AccessTokenTests {
  let token = AccessToken("sesame")!

  @Test func `the right token is admitted whatever the case of the scheme`() {
    #expect(token.admits(authorization: "Bearer sesame"))
    #expect(token.admits(authorization: "bearer   sesame"))
  }

  @Test(arguments: [
    nil, "", "Bearer", "Bearer ", "sesame", "Basic sesame", "Bearer sesam", "Bearer sesamesesame", "Bearer Sesame",
    "Bearer sesame ", "Bearer sesame sesame", "Bearer \u{0}",
  ]) func `anything else is not`(header: String?) {
    #expect(!token.admits(authorization: header))
  }

  @Test(arguments: ["", "a b", "a\n", "ä", String(repeating: "a", count: 1025)]) func `a token must fit into a header`(
    text: String
  ) {
    #expect(AccessToken(text) == nil)
  }

  @Test func `the secret does not show in logs`() {
    #expect(!"\(token)".contains("sesame"))
  }
}
