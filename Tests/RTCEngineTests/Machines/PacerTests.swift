import RTCEngine
import RTCPrimitives
import Testing

@Suite struct PacerTests {
  private let start = Timestamp.zero + .seconds(100)

  private func paced(_ rate: BitRate, burst: Int) -> NetworkEstimate {
    NetworkEstimate(target: rate.scaled(by: 0.4), pacingRate: rate, burst: burst)
  }

  /// Sends 1,000-byte packets as fast as the pacer lets them for `duration`: bytes at the start, bytes in all, wake-ups.
  private func flood(_ pacer: inout Pacer, for duration: TimeDelta) -> (first: Int, all: Int, turns: Int) {
    var (now, first, all, turns) = (start, 0, 0, 0)
    while now <= start + duration {
      turns += 1
      while pacer.maySend(now) {
        #expect(pacer.sent(bytes: 1_000, now: now) == nil)
        all += 1_000
        if now == start { first += 1_000 }
      }
      #expect(pacer.nextSend() > now)
      now = pacer.nextSend()
    }
    return (first, all, turns)
  }

  @Test func `a free pacer lets a burst through then its rate in groups`() {
    var pacer = Pacer(paced(.megabitsPerSecond(25), burst: 31_250))
    let (first, all, turns) = flood(&pacer, for: .seconds(1))
    #expect((31_000...33_000).contains(first))  // 10 ms at 25 Mbit/s
    #expect((3_120_000...3_180_000).contains(all))
    #expect(turns <= 501)
  }

  @Test func `a narrow network gets a multiple of the target`() {
    var pacer = Pacer(paced(.megabitsPerSecond(1), burst: 12_000))
    let (first, all, _) = flood(&pacer, for: .seconds(10))
    #expect((12_000...13_000).contains(first))
    #expect((1_250_000...1_270_000).contains(all))  // 1 Mbit/s
  }

  @Test func `after a pause only one burst is saved up`() {
    var pacer = Pacer(paced(.megabitsPerSecond(25), burst: 31_250))
    _ = flood(&pacer, for: .seconds(1))
    var sent = 0
    let later = start + .seconds(60)
    while pacer.maySend(later) {
      _ = pacer.sent(bytes: 1_000, now: later)
      sent += 1_000
    }
    #expect(sent <= 33_000)
  }

  @Test func `a probe leaves at its own rate and its packets are known`() {
    var pacer = Pacer(paced(.megabitsPerSecond(1), burst: 2_000))
    pacer.add(ProbeCluster(id: 7, rate: .megabitsPerSecond(8)), start)  // 15,000 bytes, 1 ms each thousand
    var (now, sent) = (start, 0)
    while pacer.isProbing {
      let mayLeave = pacer.maySend(now)
      #expect(mayLeave)
      #expect(pacer.sent(bytes: 1_000, now: now) == 7)
      sent += 1
      now += .milliseconds(1)
    }
    #expect(sent == 15)
    let mayLeave = pacer.maySend(now)
    #expect(!mayLeave)  // what the probe sent counts
    #expect(pacer.sent(bytes: 1_000, now: now) == nil)
  }
}
