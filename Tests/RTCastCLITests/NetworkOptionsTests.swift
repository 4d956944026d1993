import ArgumentParser
import FeatureKit
import Foundation
import RTCPeer
import RTCPrimitives
import Testing
import rtcast_cli

@Suite struct NetworkOptionsTests {
  private static let stun = ICEServer([ICEServerURL(scheme: .stun, host: "s.example")])
  private static let turn = ICEServer(
    [ICEServerURL(scheme: .turn, host: "t.example", transport: .tcp)], username: "me", credential: "a,b")

  private static func options(
    _ arguments: [String], preset: [ICEServer] = [], serversMayFollow: Bool = false, environment: String? = nil
  ) throws -> PeerLoop.Options {
    try NetworkOptions.parse(arguments).peerOptions(
      preset: preset, serversMayFollow: serversMayFollow, environment: environment)
  }

  @Test(.feature("S0.29", "S0.30", "S0.31")) func `servers come from options, a file, a preset or the environment`()
    throws
  {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    try "# ours\n\n  turn:t.example?transport=tcp,me,a,b \r\n".write(toFile: file, atomically: true, encoding: .utf8)
    let both = ["--ice-server", "stun:s.example", "--ice-server-file", file]
    #expect(try Self.options(both, preset: [Self.turn], environment: "stun:e").iceServers == [Self.stun, Self.turn])
    #expect(try Self.options([], preset: [Self.turn], environment: "stun:e").iceServers == [Self.turn])
    #expect(
      try Self.options([], environment: " stun:s.example\n turn:t.example?transport=tcp,me,a,b ").iceServers
        == [Self.stun, Self.turn])
    #expect(try Self.options([], environment: "").iceServers == [])
    #expect(try Self.options([]).iceServers == [])
  }

  @Test(
    .feature("S0.29"),
    arguments: [
      ("trun:t.example,u,p", "Did you mean turn:t.example?"), ("stnu:s", "Did you mean stun:s?"),
      ("http://s", "must begin with stun:"), ("turn:t.example", "user name and a password"),
      ("turn:t.example,u", "user name and a password"), ("stun://s", "write stun:s"),
    ]) func `a server that cannot be meant is refused with the right spelling`(text: String, words: String)
  {
    let error = #expect(throws: (any Error).self) { try NetworkOptions.parse(["--ice-server", text]) }
    let message = error.map { NetworkOptions.message(for: $0) } ?? ""
    #expect(message.contains(words) && error.map { NetworkOptions.exitCode(for: $0).rawValue } == 64, "\(message)")
    let failure = #expect(throws: CastFailure.self) { try Self.options([], environment: "stun:s \(text)") }
    #expect(failure?.sentence.contains(words) == true && failure?.status == .usage)
  }

  @Test func `a line of the file that is no server is named by its number`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }
    for (text, words) in [("stun:s\ntrun:t,u,p\n", "Did you mean turn:t?"), ("#\nturn:t u p\n", "not one server")] {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
      let failure = #expect(throws: CastFailure.self) { try Self.options(["--ice-server-file", file]) }
      #expect(failure?.sentence.contains("Line 2 of \(file)") == true && failure?.sentence.contains(words) == true)
    }
    #expect(throws: CastFailure.self) { try Self.options(["--ice-server-file", "/no/such/file"]) }
  }

  @Test func `ports, ranges, interfaces and the policy are read`() throws {
    #expect(try Self.options(["--udp-port", "5000"]).port == 5_000)
    let range = try Self.options(["--udp-port", "5000-5100"])
    #expect(range.port == 0 && range.portRange == 5_000...5_100)
    #expect(try Self.options(["--udp-port", "7-7"]).port == 7)
    #expect(try Self.options(["--interface", "eth0,wg0"]).interfaces == InterfaceFilter(allowed: ["eth0", "wg0"]))
    #expect(try Self.options(["--interface", "!docker0"]).interfaces == InterfaceFilter(refused: ["docker0"]))
    #expect(try Self.options([]).iceTransportPolicy == .all)
    let relay = ["--ice-policy", "relay"]
    #expect(try Self.options(relay + ["--ice-server", "turn:t,u,p"]).iceTransportPolicy == .relay)
    #expect(try Self.options(relay, serversMayFollow: true).iceTransportPolicy == .relay)
    let failure = #expect(throws: CastFailure.self) { try Self.options(relay + ["--ice-server", "stun:s"]) }
    #expect(failure?.sentence.contains("needs a TURN server") == true && failure?.status == .usage)
  }

  @Test(arguments: [
    ["--udp-port", "0"], ["--udp-port", "65536"], ["--udp-port", "9-5"], ["--udp-port", "5-"], ["--udp-port", "5-6-7"],
    ["--udp-port", "abc"], ["--interface", ""], ["--interface", "eth0,"], ["--ice-policy", "some"],
  ]) func `what cannot be meant is refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try NetworkOptions.parse(arguments) }
  }

  @Test(arguments: [
    "screen", "file x", "test", "pipe", "plugin x", "camera", "call a --server ws://h", "watch http://h", "serve",
  ]) func `every command that makes connections takes the options`(command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    let options = [
      "--ice-server", "stun:s.example", "--ice-policy", "all", "--udp-port", "5000-5100", "--interface", "!docker0",
    ]
    _ = try Rtcast.parseAsRoot(words + options)
    let error = #expect(throws: (any Error).self) { try Rtcast.parseAsRoot(words + ["--ice-server", "trun:s"]) }
    #expect(error.map { Rtcast.exitCode(for: $0).rawValue } == 64)
    #expect(error.map { Rtcast.message(for: $0).contains("Did you mean turn:s?") } == true)
  }
}
