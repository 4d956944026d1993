import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct EarliestDeadlineTests {
  private func at(_ n: Int64) -> Timestamp { .zero + .milliseconds(n) }

  @Test func `without deadlines nothing is due`() {
    var next = EarliestDeadline<PeerTimer>()
    #expect(next.timer == nil && next.time == .distantFuture)
    for timer in PeerTimer.allCases { next.consider(.distantFuture, timer) }
    #expect(next.timer == nil && next.time == .distantFuture)
  }

  @Test func `the earliest counts`() {
    var next = EarliestDeadline<PeerTimer>()
    for (index, timer) in PeerTimer.allCases.enumerated() { next.consider(at(Int64(100 - index)), timer) }
    #expect(next.timer == PeerTimer.allCases.last)
    #expect(next.time == at(Int64(101 - PeerTimer.allCases.count)))
  }

  @Test func `of several at once the first counts`() {
    var next = EarliestDeadline<PeerTimer>()
    next.consider(at(50), .feedback)
    next.consider(at(50), .reports)
    #expect(next.timer == .feedback && next.time == at(50))
  }

  @Test func `a peer says what it waits for and is not woken before`() throws {
    let pair = try PeerPair()
    #expect(pair.offerer.outbox.nextTimer == nil)
    pair.exchangeDescriptions()
    #expect(pair.offerer.outbox.nextTimer == .transport)
    try #require(pair.connect() != nil)
    pair.run(for: .seconds(3))
    for end in [pair.offerer, pair.answerer] {
      #expect(end.outbox.nextTimer != nil && end.outbox.nextDeadline > pair.now)
    }
    pair.perform(.offerer, .close)
    #expect(pair.offerer.outbox.nextTimer == nil && pair.offerer.outbox.nextDeadline == .distantFuture)
  }
}
