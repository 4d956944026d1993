import Glibc
import Testing

/// Random histories of claims, releases, rooms, messages, uses of links, revocations, streams, failures and partitions, with the real scripts in a real Redis. More of them:
/// `RTCAST_HISTORIES=100000 scripts/test-run unit RTCClusterTests`.
@Suite struct ClusterHistoryTests {
  @Test(.enabled(if: ScriptServer.isThere, "redis-server is missing: run scripts/setup"))
  func `a name never has two owners, a link no use too many, no message is lost, and hubs agree in the end`() throws {
    let histories = getenv("RTCAST_HISTORIES").flatMap { UInt64(String(cString: $0)) } ?? 150
    let first = getenv("RTCAST_FIRST_HISTORY").flatMap { UInt64(String(cString: $0)) } ?? 1
    let server = try ScriptServer()
    var (granted, used, published, delivered, rescued) = (0, 0, 0, 0, 0)
    for seed in first..<first + histories {
      let history = try ClusterHistory(server, seed: seed)
      for _ in 0..<120 where history.breach == nil { try history.step() }
      if history.breach == nil { try history.end() }
      if let breach = history.breach {
        let log = history.log.suffix(60).joined(separator: "\n")
        Issue.record("history \(seed): \(breach)\n\(log)\n\(try history.dump())")
        return
      }
      granted += history.grantedNames
      used += history.links.admissions.count
      published += history.published
      delivered += history.letters.delivered
      rescued += history.letters.rescued
    }
    #expect(granted > Int(histories) * 3, "the histories grant \(granted) names, too few to show anything")
    #expect(used > Int(histories) * 3, "the histories use links \(used) times, too few to show anything")
    #expect(published > Int(histories), "the histories publish \(published) streams, too few to show anything")
    #expect(delivered > Int(histories) * 2, "the histories deliver \(delivered) messages, too few to show anything")
    #expect(rescued > Int(histories) / 4, "\(rescued) messages followed their receivers, too few to show anything")
  }
}
