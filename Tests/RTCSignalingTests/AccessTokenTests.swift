import RTCSignaling
import Testing

@Suite struct AccessTokenTests {
  let token = AccessToken("sesame")!

  @Test func theRightTokenIsAdmittedWhateverTheCaseOfTheScheme() {
    #expect(token.admits(authorization: "Bearer sesame"))
    #expect(token.admits(authorization: "bearer   sesame"))
  }

  @Test(
    "anything else is not",
    arguments: [
      nil, "", "Bearer", "Bearer ", "sesame", "Basic sesame", "Bearer sesam", "Bearer sesamesesame", "Bearer Sesame",
      "Bearer sesame ", "Bearer sesame sesame", "Bearer \u{0}",
    ])
  func refuses(header: String?) {
    #expect(!token.admits(authorization: header))
  }

  @Test("a token must fit into a header", arguments: ["", "a b", "a\n", "ä", String(repeating: "a", count: 1025)])
  func invalid(text: String) {
    #expect(AccessToken(text) == nil)
  }

  @Test func theSecretDoesNotShowInLogs() {
    #expect(!"\(token)".contains("sesame"))
  }
}
