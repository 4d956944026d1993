import RTCPrimitives
import RTCTestKit
import Testing

/// RFC 8867's cases with the metrics of RFC 8868, fifty seeds each, by packets that are sizes. The bounds are those of the
/// mean over the seeds, and wider ones of each.
@Suite struct CongestionCaseTests {
  private func results(_ name: String, seeds: UInt64 = 50) throws -> [CongestionResult] {
    let test = try #require((CongestionCase.rfc8867 + CongestionCase.links).first { $0.name.hasPrefix(name) })
    return (1...seeds).map { test.run(seed: $0) }
  }

  private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }

  /// The goals that every case has.
  private func judge(_ results: [CongestionResult], use: Double = 0.85, queueing: Double = 0.060, drops: Double = 0.01)
  {
    #expect(mean(results.map(\.use)) >= use)
    #expect(mean(results.map(\.queueing.seconds)) <= queueing)
    #expect(mean(results.map(\.drops)) <= drops)
    #expect(results.allSatisfy { $0.use >= use - 0.12 && $0.queueing.seconds <= queueing + 0.04 })
    let rises = results.flatMap(\.rises).map { $0?.seconds ?? 100 }
    let falls = results.flatMap(\.falls).map { $0?.seconds ?? 100 }
    #expect(rises.allSatisfy { $0 <= 5 })
    #expect(mean(falls) <= 1.5 && falls.allSatisfy { $0 <= 3 })
  }

  @Test func `one flow follows a capacity that varies`() throws { judge(try results("5.1")) }

  @Test func `two flows follow a capacity that varies and share it`() throws {
    let results = try results("5.2")
    judge(results)
    #expect(mean(results.map { $0.fairness ?? 0 }) >= 0.9)
  }

  @Test func `feedback over a narrow way back is enough`() throws { judge(try results("5.3")) }

  @Test func `three flows that begin one after another come to the same share`() throws {
    let results = try results("5.4")
    judge(results)
    #expect(mean(results.map { $0.fairness ?? 0 }) >= 0.9)
  }

  @Test func `five flows of different round trips share a bottleneck`() throws {
    let results = try results("5.5", seeds: 10)
    judge(results, queueing: 0.080)
    #expect(mean(results.map { $0.fairness ?? 0 }) >= 0.8)
  }

  @Test func `a flow that paused gets its share again`() throws {
    let results = try results("5.8")
    judge(results)
    #expect(mean(results.map { $0.fairness ?? 0 }) >= 0.9)
  }

  @Test func `a link that shrinks to an eighth and widens again is followed`() throws {
    judge(try results("5 -> 0.6"))
  }

  @Test func `two percent of random loss cost nothing`() throws { judge(try results("2 %", seeds: 20)) }

  /// A tenth of what is sent never arrives.
  @Test func `ten percent of random loss do not push the rate down`() throws {
    judge(try results("10 %", seeds: 20), use: 0.85 * 0.9)
  }

  @Test func `outages of a fifth of a second do not ruin the rate`() throws {
    judge(try results("outages", seeds: 20), use: 0.8, queueing: 0.080, drops: 0.015)
  }

  @Test func `a round trip of 300 ms is borne`() throws { judge(try results("300 ms", seeds: 20)) }

  @Test func `reordering is neither loss nor overuse`() throws { judge(try results("5 %", seeds: 20), use: 0.83) }

  @Test func `a deep queue stays empty`() throws { judge(try results("2 s deep", seeds: 20)) }

  @Test func `jitter is no queue`() throws { judge(try results("30 ms jitter", seeds: 20)) }

  @Test func `the first picture after a rest does not fill a path that has become narrow`() throws {
    let results = try results("60 s of rest", seeds: 20)
    #expect(results.allSatisfy { $0.use > 0.75 && $0.drops <= 0.03 })
    #expect(mean(results.map(\.queueing.seconds)) <= 0.250)
  }

  @Test func `the same seed gives the same run`() throws {
    let first = try results("5.1", seeds: 2)
    let second = try results("5.1", seeds: 2)
    #expect(first.map(\.use) == second.map(\.use))
    #expect(first[0].use != first[1].use)
  }
}
