import RTCEngine
import RTCPrimitives
import Testing

/// The small machines beside the pacer, each alone.
@Suite struct SendMachinesTests {
  private func at(_ n: Int64) -> Timestamp { .zero + .milliseconds(n) }

  // MARK: - Round robin

  @Test func `each sender has a run while others wait`() {
    var roundRobin = RoundRobin()
    var pending = [20, 5, 20]
    var order: [Int] = []
    while let index = roundRobin.next(of: 3, where: { pending[$0] > 0 }) {
      pending[index] -= 1
      order.append(index)
    }
    let runs = order.reduce(into: [(Int, Int)]()) { runs, index in
      if runs.last?.0 == index { runs[runs.count - 1].1 += 1 } else { runs.append((index, 1)) }
    }
    #expect(runs.map(\.0) == [0, 1, 2, 0, 2, 0, 2])
    #expect(runs.map(\.1) == [8, 5, 8, 8, 8, 4, 4])
    let none = roundRobin.next(of: 0, where: { _ in true })
    #expect(none == nil)
  }

  @Test func `a sender that is gone loses its turn`() {
    var roundRobin = RoundRobin()
    let turns = [roundRobin.next(of: 3, where: { $0 == 2 }), roundRobin.next(of: 1, where: { _ in true })]
    #expect(turns == [2, 0])
  }

  // MARK: - Tail loss probe

  @Test func `the probe waits for a round trip and feedback then twice as long`() {
    var probe = TailLossProbe()
    #expect(probe.nextDeadline == .distantFuture)
    for (attempt, wait) in [400, 800, 1_600].enumerated() {
      probe.arm(lastSent: at(10), attempt: attempt, now: at(1_000), roundTrip: .milliseconds(100), hasFeedback: true)
      #expect(probe.nextDeadline == at(1_000 + Int64(wait)))
      #expect(probe.attempts == attempt && probe.watched == at(10))
    }
    probe.arm(lastSent: at(10), attempt: 3, now: at(1_000), roundTrip: .zero, hasFeedback: true)
    #expect(probe.nextDeadline == .distantFuture)
  }

  @Test func `silence says nothing where there is no feedback`() {
    var probe = TailLossProbe()
    probe.arm(lastSent: at(10), attempt: 0, now: at(10), roundTrip: .zero, hasFeedback: false)
    #expect(probe.nextDeadline == .distantFuture && probe.watched == at(10))
    probe.arm(lastSent: at(20), attempt: 0, now: at(20), roundTrip: .zero, hasFeedback: true)
    probe.disarm()
    #expect(probe.nextDeadline == .distantFuture)
  }

  // MARK: - Key-frame throttle

  @Test func `requests close together are one`() {
    var throttle = KeyFrameThrottle()
    let asked = [1_000, 1_150, 1_300].map { throttle.request(at($0), lastSent: nil, roundTrip: .milliseconds(20)) }
    #expect(asked == [true, false, true])
    #expect(throttle.nextDeadline == .distantFuture)
  }

  @Test func `who has lost the key frame gets another as soon as it may`() {
    var throttle = KeyFrameThrottle()
    let roundTrip = TimeDelta.milliseconds(20)
    _ = throttle.request(at(1_000), lastSent: nil, roundTrip: roundTrip)
    // It is still on its way.
    var isAsked = throttle.request(at(1_060), lastSent: at(1_050), roundTrip: roundTrip)
    #expect(!isAsked && throttle.nextDeadline == .distantFuture)
    // It should be there.
    isAsked = throttle.request(at(1_080), lastSent: at(1_050), roundTrip: roundTrip)
    #expect(!isAsked && throttle.nextDeadline == at(1_300))
    throttle.clear()
    #expect(throttle.nextDeadline == .distantFuture)
  }

  // MARK: - Allocation

  @Test func `what one may not have the others get`() {
    let rate = BitRate.kilobitsPerSecond
    func shares(_ ceilings: [BitRate?]) -> [Int64] {
      BitrateAllocator.shares(of: rate(900), ceilings: ceilings, minimum: rate(100)).map { $0.bitsPerSecond / 1_000 }
    }
    #expect(shares([]) == [])
    #expect(shares([nil, nil, nil]) == [300, 300, 300])
    #expect(shares([nil, rate(200), nil]) == [350, 200, 350])
    #expect(shares([rate(800), rate(10)]) == [800, 100])
    #expect(shares([rate(100), rate(100)]) == [100, 100])
  }

  // MARK: - Pacer

  @Test func `the pacers deadline stands only while something waits`() {
    let rate = BitRate.megabitsPerSecond(25)
    var pacer = Pacer(NetworkEstimate(target: rate, pacingRate: rate, burst: 12_000))
    #expect(pacer.nextDeadline == .distantFuture)
    while pacer.maySend(at(0)) { _ = pacer.sent(bytes: 1_000, now: at(0)) }
    pacer.hold()
    #expect(pacer.nextDeadline > at(0) && pacer.nextDeadline < at(10))
    pacer.release()
    #expect(pacer.nextDeadline == .distantFuture)
  }
}
