import Foundation
import RTCDTLS
import Testing

@Suite struct MemoryTests {
  @Test func `a thousand handshakes leave nothing behind`() throws {
    for _ in 0..<200 { try connectAndClose() }
    let before = try residentBytes()
    for _ in 0..<1000 { try connectAndClose() }
    // A leaked pair of connections holds at least 20 kB; other tests run beside this one and take some too.
    #expect(try residentBytes() - before < 10 << 20)
  }

  private func connectAndClose() throws {
    let pair = try connectedPair()
    pair.close(.client)
    pair.settle()
  }

  private func connectedPair() throws -> VirtualPair {
    let pair = try makePair()
    pair.run()
    #expect(pair.keys(.client) != nil)
    return pair
  }
}

/// Bytes that this process holds in memory: the second field of `statm`, in pages.
func residentBytes() throws -> Int {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return try #require(Int(fields[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
