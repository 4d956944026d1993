import RTCEngine
import RTCPrimitives
import Testing

@Suite struct GoogleCongestionControlTests {
  @Test func `the rate grows while it is used and nothing speaks against it`() {
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    #expect(path.target > 1_200_000 && path.target <= 2_000_000)
    #expect(path.estimate.loss == 0)
  }

  @Test(arguments: [(SentPacket.Kind.padding, true), (.video, false)])
  func `a probe of padding that a busy receiver took all at once is sent again`(kind: SentPacket.Kind, again: Bool)
    throws
  {
    var limits = BitrateLimits(maximum: .megabitsPerSecond(3))
    limits.start = .megabitsPerSecond(1)
    var control = GoogleCongestionControl(limits: limits)
    control.start(.zero)
    let first = control.takeProbe(.zero)
    let probe = try #require(first)
    let results = (0..<20).map { number in
      PacketResult(
        packet: SentPacket(
          number: number, sendTime: .zero + .milliseconds(Int64(number)), size: 300, kind: kind, probe: probe.id),
        arrival: .seconds(100))
    }
    var activity = SendActivity()
    activity.lastSent = .zero + .milliseconds(19)
    control.receive(results, activity, now: .zero + .milliseconds(80))
    let second = control.takeProbe(.zero)
    #expect(second?.rate == (again ? probe.rate : nil))
    #expect(control.estimate.target == .megabitsPerSecond(1))
  }

  @Test(arguments: [0, 50_000])
  func `feedback on the first probe may take longer than the estimator's tick`(clock: Int64) {
    var limits = BitrateLimits(maximum: .megabitsPerSecond(3))
    limits.start = .megabitsPerSecond(1)
    var path = ModelPath(now: .zero + .milliseconds(clock), limits: limits)
    let probe = path.estimator.takeProbe(path.now)
    let results = (0..<16).map {
      path.leave(375, at: path.now + .milliseconds($0), delay: .milliseconds(2), probe: probe?.id)
    }
    path.estimator.deadlineReached(path.now + .milliseconds(100), path.activity)
    path.estimator.receive(results, path.activity, now: path.now + .milliseconds(110))
    #expect(path.target > 2_900_000)
  }

  @Test func `the rate does not grow while little of it is used`() {
    var path = ModelPath()
    path.run(.seconds(20), rate: 200_000)
    #expect(path.target == 1_000_000)
  }

  @Test func `packets that come later and later lower the rate`() {
    var path = ModelPath()
    path.run(.seconds(2), rate: 1_000_000)
    let before = path.target
    // A line of 0.8 Mbit/s: each packet of 9.6 ms takes 12.
    path.run(.milliseconds(1_500), rate: 1_000_000) { .milliseconds(20) + .microseconds(Int64($0) * 2_400) }
    #expect(path.target < before)
    #expect([.overuse, .queue].contains(path.estimate.reason))
    // The sender of this test does not obey: the queue stays, and the rate is the share that drains it, no less.
    #expect((300_000...850_000).contains(path.target))
  }

  @Test func `packets that come later and later lower the rate below what arrives, before a queue stands`() {
    var path = ModelPath()
    path.run(.seconds(2), rate: 1_000_000)
    let before = path.target
    // Each packet waits 0.6 ms longer: 94 % of what is sent arrives.
    var sent: Int64 = 0
    for _ in 0..<20 where path.target >= before {
      path.run(.milliseconds(50), rate: 1_000_000) { _ in
        sent += 1
        return .milliseconds(20) + .microseconds(600 * sent)
      }
    }
    #expect(path.estimate.reason == .overuse)
    #expect((700_000...900_000).contains(path.target))
  }

  @Test func `a queue that stands after a rest is acted upon at the first feedback`() {
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    path.rest(.seconds(60))
    let before = path.target
    // The line has become one of 400 kbit/s: each packet waits 14.4 ms longer than the one before.
    path.run(.milliseconds(250), rate: 1_000_000) { .milliseconds(20) + .microseconds(Int64($0) * 14_400) }
    #expect(path.estimate.reason == .queue)
    #expect(path.target < 0.5 * before)
    #expect(path.estimate.pacingRate <= path.estimate.target.scaled(by: 1.11))
  }

  @Test func `a clock that drifts during a rest is no queue`() {
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    path.rest(.seconds(1_200))
    path.clockOffset = path.clockOffset + .milliseconds(60)  // 50 ppm
    let before = path.target
    path.run(.seconds(1), rate: 1_000_000)
    #expect(path.target >= before)
  }

  @Test func `a path that became longer is accepted when little is sent and the delay stays`() {
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    for _ in 0..<160 { path.run(.milliseconds(50), rate: path.target) { _ in .milliseconds(140) } }
    #expect((path.estimate.queueingDelay ?? .zero) < .milliseconds(20))
    #expect(path.target > 500_000)
  }

  @Test(arguments: [0.02, 0.10]) func `random loss does not push the rate down`(loss: Double) {
    var random = SeededGenerator(seed: 5)
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    for _ in 0..<600 {
      path.run(.milliseconds(50), rate: min(path.target, 3_000_000)) { _ in
        random.nextUnit() < loss ? nil : .milliseconds(20)
      }
    }
    #expect(path.target > 2_400_000)
  }

  @Test func `loss that goes when less is sent holds the rate down`() {
    var random = SeededGenerator(seed: 6)
    var path = ModelPath()
    // A policer lets 800 kbit/s through and drops the rest, without any queue.
    for _ in 0..<200 {
      let rate = path.target
      path.run(.milliseconds(50), rate: rate) { _ in
        random.nextUnit() < max(0, 1 - 800_000 / rate) ? nil : .milliseconds(20)
      }
    }
    #expect(path.target < 1_000_000)
    #expect(path.target > 500_000)
  }

  @Test func `one packet lost of five is no reason`() {
    var path = ModelPath()
    path.run(.seconds(3), rate: 1_000_000)
    let before = path.target
    path.run(.seconds(2), rate: 24_000) { $0 % 5 == 4 ? nil : .milliseconds(20) }
    #expect(path.target >= before)
  }

  @Test func `late packets are taken back from the lost`() {
    var path = ModelPath()
    path.run(.seconds(2), rate: 1_000_000)
    for _ in 0..<60 {
      var results: [PacketResult] = []
      var late: [PacketResult] = []
      for index in 0..<10 {
        let result = path.leave(at: path.now + .milliseconds(Int64(index) * 5), delay: .milliseconds(20))
        guard index % 3 == 0 else {
          results.append(result)
          continue
        }
        results.append(PacketResult(packet: result.packet, arrival: nil))
        late.append(PacketResult(packet: result.packet, arrival: result.arrival, wasReportedLost: true))
      }
      path.now += .milliseconds(50)
      path.estimator.receive(results, path.activity, now: path.now)
      path.estimator.receive(late, path.activity, now: path.now + .milliseconds(10))
    }
    #expect(path.estimate.loss < 0.01)
    #expect(path.estimate.reason != .loss)
  }

  @Test func `missing feedback halves the rate again and again and its return brings it back`() {
    var path = ModelPath()
    path.run(.seconds(3), rate: 1_000_000)
    let before = path.target
    path.run(.milliseconds(500), rate: 1_000_000, hasFeedback: false)
    #expect(path.target == before)
    path.run(.milliseconds(3_000), rate: 1_000_000, hasFeedback: false)
    #expect(path.target <= before / 8)
    #expect(path.estimate.reason == .feedback)
    path.run(.milliseconds(100), rate: 1_000_000)
    #expect(path.target >= 0.7 * before)
  }

  @Test func `a rest neither lowers nor raises the rate, wakes nobody, and bounds the first packets after it`() {
    var path = ModelPath()
    path.run(.seconds(5), rate: 1_000_000)
    path.run(.seconds(15), rate: 300_000)
    let before = path.target
    path.rest(.seconds(60))
    #expect(path.target == before)
    #expect(path.estimator.nextDeadline == .distantFuture)
    #expect(path.estimate.pacingRate.bitsPerSecond < 700_000)
    #expect(path.estimate.burst <= 12_000)
    path.run(.milliseconds(100), rate: 1_000_000)
    #expect(path.target == before)
    #expect(path.estimate.pacingRate.bitsPerSecond > 1_500_000)
  }

  @Test func `the remote peer's maximum bounds the target while it is said again`() {
    var path = ModelPath()
    path.run(.seconds(2), rate: 1_000_000)
    path.estimator.setRemoteMaximum(.kilobitsPerSecond(300), now: path.now)
    #expect(path.target == 300_000)
    #expect(path.estimate.reason == .remote)
    path.run(.seconds(4), rate: 300_000)
    #expect(path.target == 300_000)
    path.run(.seconds(2), rate: 300_000)
    #expect(path.target > 900_000)
  }

  @Test func `without feedback on packets the loss of reports and the remote maximum decide`() {
    var estimator = GoogleCongestionControl(limits: BitrateLimits(maximum: .megabitsPerSecond(8)))
    var now = Timestamp.zero + .seconds(1)
    estimator.start(now)
    for _ in 0..<10 {
      now += .seconds(1)
      estimator.receiveLoss(expected: 100, lost: 0, now: now)
    }
    let grown = estimator.estimate.target
    #expect(grown > .kilobitsPerSecond(1_400))
    now += .seconds(1)
    estimator.receiveLoss(expected: 100, lost: 40, now: now)
    #expect(estimator.estimate.target < grown.scaled(by: 0.85))
    now += .seconds(1)
    estimator.receiveLoss(expected: 5, lost: 5, now: now)
    #expect(estimator.estimate.target > grown.scaled(by: 0.7))
    estimator.setRemoteMaximum(.megabitsPerSecond(2), now: now)
    #expect(estimator.estimate.target == .megabitsPerSecond(2))
  }

  @Test func `a remote maximum alone doubles the rate each second and no faster`() {
    var estimator = GoogleCongestionControl(limits: BitrateLimits(maximum: .megabitsPerSecond(8)))
    var now = Timestamp.zero + .seconds(1)
    estimator.start(now)
    for _ in 0..<100 { estimator.setRemoteMaximum(.megabitsPerSecond(1_000), now: now) }
    #expect(estimator.estimate.target == .megabitsPerSecond(2))
    now += .milliseconds(1_000)
    for _ in 0..<100 { estimator.setRemoteMaximum(.megabitsPerSecond(1_000), now: now) }
    #expect(estimator.estimate.target == .megabitsPerSecond(4))
    estimator.setRemoteMaximum(.megabitsPerSecond(1), now: now)
    #expect(estimator.estimate.target == .megabitsPerSecond(1))
  }

  @Test func `another route begins anew from no more than the start`() {
    var path = ModelPath()
    for _ in 0..<200 { path.run(.milliseconds(50), rate: path.target) }
    #expect(path.target > 1_500_000)
    path.estimator.routeChanged(path.now)
    #expect(path.target == 1_000_000)
    #expect(path.estimator.takeProbe(path.now)?.rate == .megabitsPerSecond(3))
    #expect(path.estimate.queueingDelay == nil && path.estimate.acknowledged == nil)
  }

  @Test func `the first probes are three and six times the start, within the limits`() {
    var estimator = GoogleCongestionControl(limits: BitrateLimits(maximum: .megabitsPerSecond(4)))
    estimator.start(.zero)
    #expect(estimator.takeProbe(.zero)?.rate == .megabitsPerSecond(3))
    #expect(estimator.takeProbe(.zero)?.rate == .megabitsPerSecond(4))
    #expect(estimator.takeProbe(.zero) == nil)
  }

  @Test func `a probe that arrives as fast as it left raises the rate at once`() {
    var path = ModelPath()
    let results = (0..<6).map {
      path.leave(at: path.now + .microseconds(3_200 * Int64($0)), delay: .milliseconds(20), probe: 0)
    }
    path.now += .milliseconds(100)
    path.estimator.receive(results, path.activity, now: path.now)
    #expect((1_500_000...3_000_000).contains(path.target))
    #expect(path.estimate.reason == .probe)
  }
}
