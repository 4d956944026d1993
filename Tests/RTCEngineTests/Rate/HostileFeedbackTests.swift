import RTCEngine
import RTCPrimitives
import Testing

/// A remote peer that says what it likes about packets that did leave.
@Suite struct HostileFeedbackTests {
  /// More than twice what was really sent cannot be proved, whatever the times of arrival.
  private func expectModest(_ path: ModelPath, sent: Double) {
    #expect(path.target <= max(1_000_000, 2 * sent) * 1.01)
    #expect(path.target >= 100_000)
    #expect((0...1).contains(path.estimate.loss))
    #expect((3_000...12_000).contains(path.estimate.burst))
  }

  @Test func `arrivals in one moment prove no more than was sent`() {
    var path = ModelPath()
    for round in 0..<400 {
      let moment = TimeDelta.milliseconds(Int64(round / 10))
      run(&path, rate: 600_000) { _ in moment }
    }
    expectModest(path, sent: 600_000)
  }

  @Test func `arrivals at random times prove no more than was sent`() {
    var random = SeededGenerator(seed: 9)
    var path = ModelPath()
    for _ in 0..<400 {
      run(&path, rate: 600_000) { _ in TimeDelta(nanoseconds: Int64(bitPattern: random.next())) }
      expectModest(path, sent: 600_000)
    }
  }

  @Test func `delays that shrink for ever prove no more than was sent`() {
    var path = ModelPath()
    for round in 0..<1_000 {
      run(&path, rate: 600_000) { time in
        TimeDelta(nanoseconds: (time - Timestamp.zero).nanoseconds / 2 - Int64(round) * 1_000_000)
      }
    }
    expectModest(path, sent: 600_000)
  }

  @Test func `the same results again and again change nothing of that`() {
    var path = ModelPath()
    let results = (0..<20).map { path.leave(at: path.now + .milliseconds(Int64($0) * 10), delay: .zero) }
    path.now += .milliseconds(300)
    for _ in 0..<1_000 {
      path.estimator.receive(results, path.activity, now: path.now)
      path.now += .milliseconds(50)
    }
    expectModest(path, sent: 1_000_000)
  }

  @Test func `absurd maxima, losses and round trips stay within the limits`() {
    var path = ModelPath()
    path.run(.seconds(1), rate: 1_000_000)
    for rate in [Int64.min, -1, 0, 1, .max] {
      path.estimator.setRemoteMaximum(BitRate(bitsPerSecond: rate), now: path.now)
      #expect((100_000...8_000_000).contains(path.target))
    }
    for (expected, lost) in [(Int.max, Int.max), (Int.min, 5), (0, 7), (10, -50), (1, .min)] {
      path.estimator.receiveLoss(expected: expected, lost: lost, now: path.now)
    }
    for roundTrip in [Int64.min, -1, 0, .max] {
      path.estimator.setRoundTrip(TimeDelta(nanoseconds: roundTrip), now: path.now)
      path.run(.milliseconds(500), rate: 500_000)
    }
    #expect((100_000...8_000_000).contains(path.target))
  }

  /// Fifty milliseconds of packets whose arrival times are made up from when they left.
  private func run(_ path: inout ModelPath, rate: Double, arrival: (Timestamp) -> TimeDelta) {
    var results: [PacketResult] = []
    var time = path.now
    while time < path.now + .milliseconds(50) {
      var result = path.leave(at: time, delay: .zero)
      result.arrival = arrival(time)
      results.append(result)
      time += .seconds(9_600 / rate)
    }
    path.now += .milliseconds(50)
    path.estimator.receive(results, path.activity, now: path.now + .milliseconds(30))
    path.estimator.deadlineReached(path.now + .milliseconds(30), path.activity)
    while path.estimator.takeProbe(path.now) != nil {}
  }
}
