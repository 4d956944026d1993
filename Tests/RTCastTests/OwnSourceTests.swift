import FeatureKit
import Glibc
import ProcessKit
import Testing

/// The examples of an application's own source and signaling, built beside the tests.
@Suite struct OwnSourceTests {
  @Test(.feature("S0.70", "S4.20")) func `the example runs and its pictures are captured`() throws {
    let output = try TestProcess.run([Self.folder + "/OwnSource", "2"]).text
    let told = output.split(separator: "\n").first { $0.hasSuffix(" pictures a second") }
    let rate = told?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    #expect(rate > 1, "\(output)")
  }

  @Test(.feature("S0.3", "S1.3")) func `the example of signaling connects a call`() throws {
    let output = try TestProcess.run([Self.folder + "/OwnSignaling"]).text
    #expect(output.split(separator: "\n").sorted() == ["alice: connected", "bob: connected"])
  }

  @Test func `the source has under thirty lines`() throws {
    let text = try TestProcess.run(["cat", "\(Self.root)/Snippets/OwnSource.swift"]).text
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = try #require(lines.firstIndex { $0.contains("final class") })
    let last = try #require(lines[first...].firstIndex { $0 == "}" })
    #expect(last - first + 1 < 30)
  }

  private static let root = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }

  /// Where this program lies.
  private static var folder: String {
    var room = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &room, room.count)
    let path = String(decoding: room[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
  }
}
