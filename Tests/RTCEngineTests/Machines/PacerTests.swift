import RTCEngine
import RTCPrimitives
import Testing

@Suite struct PacerTests {
  private let start = Timestamp.zero + .seconds(100)

  /// Sends 1,000-byte packets as fast as the pacer lets them for `duration`: bytes at the start, bytes in all, wake-ups.
  private func flood(_ pacer: inout Pacer, for duration: TimeDelta) -> (first: Int, all: Int, turns: Int) {
    var (now, first, all, turns) = (start, 0, 0, 0)
    while now <= start + duration {
      turns += 1
      while pacer.maySend(now) {
        pacer.sent(bytes: 1_000, now: now)
        all += 1_000
        if now == start { first += 1_000 }
      }
      #expect(pacer.nextSend() > now)
      now = pacer.nextSend()
    }
    return (first, all, turns)
  }

  @Test func `a free pacer lets a burst through then its rate in groups`() {
    var pacer = Pacer()
    let (first, all, turns) = flood(&pacer, for: .seconds(1))
    #expect((31_000...33_000).contains(first))  // 10 ms at 25 Mbit/s
    #expect((3_120_000...3_180_000).contains(all))
    #expect(turns <= 501)
  }

  @Test func `a narrow network gets a multiple of the target`() {
    var pacer = Pacer()
    pacer.update(target: .kilobitsPerSecond(400), isNarrow: true)
    let (first, all, _) = flood(&pacer, for: .seconds(10))
    #expect((12_000...13_000).contains(first))
    #expect((1_250_000...1_270_000).contains(all))  // 1 Mbit/s
  }

  @Test func `after a pause only one burst is saved up`() {
    var pacer = Pacer()
    _ = flood(&pacer, for: .seconds(1))
    var sent = 0
    let later = start + .seconds(60)
    while pacer.maySend(later) {
      pacer.sent(bytes: 1_000, now: later)
      sent += 1_000
    }
    #expect(sent <= 33_000)
  }

  @Test func `a target beyond the free rate is not held back`() {
    var pacer = Pacer()
    pacer.update(target: .megabitsPerSecond(40), isNarrow: false)
    #expect(pacer.rate == .megabitsPerSecond(100))
  }
}
