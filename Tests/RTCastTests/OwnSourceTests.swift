import Glibc
import Testing

/// The example of an application's own source, built beside the tests.
@Suite struct OwnSourceTests {
  /// S0.70, S4.20.
  @Test func theExampleRunsAndItsPicturesAreCaptured() {
    let (output, status) = run(Self.folder + "/OwnSource")
    #expect(status == 0)
    let rate = output.split(separator: " ").first.flatMap { Double($0) } ?? 0
    #expect(rate > 1, "\(output)")
  }

  @Test func theSourceHasUnderThirtyLines() throws {
    let (text, _) = run("cat \(Self.root)/Snippets/OwnSource.swift")
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

  private func run(_ command: String) -> (output: String, status: Int32) {
    guard let pipe = popen(command, "r") else { return ("", -1) }
    var output: [UInt8] = []
    while case let byte = fgetc(pipe), byte != EOF { output.append(UInt8(byte)) }
    return (String(decoding: output, as: UTF8.self), pclose(pipe))
  }
}
