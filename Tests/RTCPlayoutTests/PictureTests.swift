import RTCEngine
import RTCPlayout
import RTCPrimitives
import RTCWire
import Testing

@Suite struct Pictures {
  /// Shows `seconds` of 30 pictures a second over a trace.
  private func show(_ trace: DelayTrace, seconds: Int = 30, requested: PlayoutDelay? = nil)
    -> (timing: VideoPlayoutTiming, shown: [Timestamp], waits: [TimeDelta])
  {
    var timing = VideoPlayoutTiming()
    timing.requested = requested
    var random = SeededGenerator(seed: 5)
    var shown: [Timestamp] = []
    var waits: [TimeDelta] = []
    var last = Timestamp.zero
    for index in 0..<(seconds * 30) {
      let second = Double(index) / 30
      let arrival = max(last, Timestamp.zero + TimeDelta.seconds(second + trace.delay(second, &random) / 1_000))
      last = arrival
      let timestamp = RTPTimestamp(4_294_900_000 &+ UInt32(index * 3_000))
      timing.noteArrival(timestamp, at: arrival)
      timing.noteDecoding(.milliseconds(4))
      let decision = timing.schedule(timestamp, now: arrival + .milliseconds(4))
      shown.append(decision.showTime)
      waits.append(decision.showTime - arrival)
    }
    return (timing, shown, waits)
  }

  @Test func `uneven arrival is shown evenly`() {
    let (timing, shown, _) = show(.gaussian)
    let steps = zip(shown.dropFirst(600), shown.dropFirst(599)).map { ($0 - $1).seconds * 1_000 }
    let uneven = steps.filter { abs($0 - 33.3) > 8 }
    #expect(uneven.count < steps.count / 10)
    #expect(timing.statistics.late < 90)
    #expect(timing.target < .milliseconds(80))
  }

  @Test func `an even network delays next to nothing`() {
    let (timing, _, waits) = show(.constant)
    #expect(timing.target < .milliseconds(20))
    #expect(waits.suffix(300).allSatisfy { $0 < .milliseconds(20) })
  }

  @Test func `a sender that wants no delay gets none`() {
    let (_, _, waits) = show(.gaussian, requested: .immediate)
    #expect(waits.allSatisfy { $0 == .milliseconds(4) })
  }

  @Test func `a sender's bounds hold`() {
    let long = show(.constant, requested: PlayoutDelay(minimum: .milliseconds(200), maximum: .milliseconds(400)))
    #expect(long.timing.target == .milliseconds(200))
    let short = show(.gaussian, requested: PlayoutDelay(minimum: .zero, maximum: .milliseconds(20)))
    #expect(short.timing.target == .milliseconds(20))
  }

  @Test(arguments: [DelayTrace.spikes, .bursts, .wifi, .routeChange, .sharedLine(seed: 9)])
  func `no picture is shown before the one before it`(trace: DelayTrace) {
    let (_, shown, waits) = show(trace)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(waits.allSatisfy { $0 >= .zero && $0 < .milliseconds(600) })
  }

  @Test func `a sender that begins another timeline is followed`() {
    var timing = VideoPlayoutTiming()
    timing.noteArrival(RTPTimestamp(1_000), at: .zero)
    _ = timing.schedule(RTPTimestamp(1_000), now: .zero)
    timing.noteArrival(RTPTimestamp(2_000_000_000), at: .zero + .milliseconds(33))
    let decision = timing.schedule(RTPTimestamp(2_000_000_000), now: .zero + .milliseconds(34))
    #expect(decision.showTime - .zero < .milliseconds(60))
    #expect(timing.statistics.restarts == 1)
  }

  @Test func `standing still is noticed, a slow rhythm is not`() {
    var detector = FreezeDetector()
    var time = Timestamp.zero
    for _ in 0..<40 {
      time += .milliseconds(33)
      detector.noteShown(at: time)
    }
    #expect(detector.freezes == 0)
    time += .milliseconds(400)
    let isFreeze = detector.noteShown(at: time)
    #expect(isFreeze)
    #expect(detector.freezes == 1 && detector.frozen == .milliseconds(400))
    detector.notePause()
    time += .seconds(10)
    detector.noteShown(at: time)
    #expect(detector.freezes == 1)
    var slow = FreezeDetector()
    for index: Int64 in 0..<20 { slow.noteShown(at: Timestamp.zero + TimeDelta.seconds(index)) }
    #expect(slow.freezes == 0)
  }
}
