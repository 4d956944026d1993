import ArgumentParser
import Foundation
import Testing
import rtcast_cli

@Suite struct TokenTests {
  private static func secret(
    _ arguments: [String], link: String? = nil, environment: String? = nil
  ) throws -> String? {
    try TokenOptions.parse(arguments).secret(link: link, environment: environment)?.text
  }

  @Test func `what is said nearest counts`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    try " from-file \r\nsecond line\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try Self.secret(["--token", "option"], link: "link", environment: "variable") == "option")
    #expect(try Self.secret(["--token-file", file], link: "link", environment: "variable") == "from-file")
    #expect(try Self.secret([], link: "link", environment: "variable") == "link")
    #expect(try Self.secret([], environment: "variable") == "variable")
    #expect(try Self.secret([], environment: "") == nil)
    #expect(try Self.secret([]) == nil)
  }

  @Test func `what is no token is refused by where it came from`() throws {
    #expect(throws: (any Error).self) { try TokenOptions.parse(["--token", "two words"]) }
    #expect(throws: (any Error).self) { try TokenOptions.parse(["--token", "a", "--token-file", "b"]) }
    func expect(_ status: rtcast_cli.ExitStatus, _ beginning: String, _ arguments: [String], environment: String? = nil)
    {
      let failure = #expect(throws: CastFailure.self) { try Self.secret(arguments, environment: environment) }
      #expect(failure?.sentence.hasPrefix(beginning) == true && failure?.status == status, "\(failure?.sentence ?? "")")
    }
    expect(.usage, "RTCAST_TOKEN", [], environment: "two words")
    expect(.usage, "The first line of the token file /dev/null", ["--token-file", "/dev/null"])
    expect(.noInput, "The token file /no/such/file", ["--token-file", "/no/such/file"])
  }
}
