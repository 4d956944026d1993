import Foundation
import RTCPrimitives
import RTCSignaling
import Testing
import rtcast_cli

@Suite struct TURNOptionsTests {
  private static let url = ICEServerURL(scheme: .turn, host: "t.example")

  private static func service(_ arguments: [String], environment: String? = nil) throws -> TURNService? {
    try TURNOptions.parse(arguments).service(environment: environment)
  }

  @Test func `the secret comes from an option, a file or the environment`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    try "from-file\nsecond\n".write(toFile: file, atomically: true, encoding: .utf8)
    let url = ["--turn-url", "turn:t.example"]
    #expect(
      try Self.service(url + ["--turn-secret", "s"], environment: "e")
        == TURNService(urls: [Self.url], secret: "s", lifetime: .seconds(43_200)))
    #expect(
      try Self.service(url + ["--turn-secret-file", file], environment: "e")
        == TURNService(urls: [Self.url], secret: "from-file"))
    #expect(try Self.service(url, environment: "e") == TURNService(urls: [Self.url], secret: "e"))
    #expect(try Self.service([], environment: "e") == nil)
    let failure = #expect(throws: CastFailure.self) { try Self.service(url) }
    #expect(failure?.status == .usage && failure?.sentence.contains("RTCAST_TURN_SECRET") == true)
  }

  @Test(arguments: [("300", 300), ("30m", 1_800), ("12h", 43_200), ("1d", 86_400)] as [(String, Int64)])
  func `lifetimes are read`(text: String, seconds: Int64) throws {
    let arguments = ["--turn-url", "turn:t.example", "--turn-secret", "s", "--turn-lifetime", text]
    #expect(try Self.service(arguments)?.lifetime == .seconds(seconds))
  }

  @Test(arguments: [
    ["--turn"], ["--turn", "--turn-secret", "s", "--turn-lifetime", "1h"],
    [
      "--turn", "--turn-host", "2001:db8::1", "--turn-port", "0", "--turn-relay-ports", "50000-50999", "--turn-private",
    ],
    ["--turn", "--turn-max-allocations", "5", "--turn-max-rate", "0.5"],
  ]) func `the hub's own server has options`(arguments: [String]) throws {
    #expect(try Self.service(arguments) == nil, "no other server is named")
  }

  @Test(arguments: [
    ["--turn-url", "trun:t"], ["--turn-url", "stun:t"], ["--turn-secret", "s"], ["--turn-lifetime", "12h"],
    ["--turn-url", "turn:t", "--turn-secret", "s", "--turn-secret-file", "f"],
    ["--turn-url", "turn:t", "--turn-secret", "s", "--turn-lifetime", "10s"],
    ["--turn-url", "turn:t", "--turn-secret", "s", "--turn-lifetime", "31d"],
    ["--turn-url", "turn:t", "--turn-secret", "s", "--turn-lifetime", "9223372036854775807d"],
    ["--turn-private"], ["--turn-port", "3478"], ["--turn", "--turn-port", "65536"],
    ["--turn", "--turn-relay-ports", "5"],
    ["--turn", "--turn-relay-ports", "9-8"], ["--turn", "--turn-max-allocations", "0"],
    ["--turn", "--turn-max-rate", "0"], ["--turn", "--turn-max-rate", "nan"], ["--turn", "--turn-host", "a b"],
  ]) func `what cannot be meant is refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try TURNOptions.parse(arguments) }
  }
}
