import FeatureKit
import RTCCapture
import RTCPrimitives
import Testing

/// A screen on virtual time that grabs when the clock says so.
private struct VirtualScreen {
  var clock: FrameClock
  var grabs: [(at: Timestamp, newestChange: Timestamp)] = []
  private var newestChange: Timestamp?

  init(fps: Double) { clock = FrameClock(.init(framesPerSecond: fps)) }

  /// - Parameter demand: a whole picture is asked for at this moment, wherever that falls between two changes.
  mutating func run(changes: [Timestamp], demand: Timestamp? = nil, until end: Timestamp) {
    var demand = demand
    for change in changes {
      if let moment = demand, moment <= change {
        grabAll(before: moment)
        clock.noteDemand(at: moment)
        demand = nil
      }
      grabAll(before: change)
      clock.noteChange(at: change)
      newestChange = change
    }
    grabAll(before: end)
  }

  private mutating func grabAll(before end: Timestamp) {
    while let due = clock.nextGrab, due < end {
      let now = max(due, newestChange!)
      grabs.append((now, newestChange!))
      clock.noteGrab(at: now)
    }
  }

  func meanAge(from start: Timestamp) -> TimeDelta {
    let late = grabs.filter { $0.at >= start }
    return late.reduce(TimeDelta.zero) { $0 + ($1.at - $1.newestChange) } / Int64(max(1, late.count))
  }
}

private func periodic(_ hertz: Double, seconds: Double, jitter: TimeDelta, phase: TimeDelta) -> [Timestamp] {
  var state: UInt64 = 7
  return (0..<Int(hertz * seconds)).map { index in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let part = Double(state >> 33) / Double(UInt32.max >> 1) - 1 + 0.5
    let shift = TimeDelta.seconds(jitter.seconds * max(-1, min(1, part * 2)))
    return Timestamp(nanoseconds: 5_000_000_000) + phase + .seconds(Double(index) / hertz) + shift
  }
}

@Suite struct FrameClockTests {
  static let start = Timestamp(nanoseconds: 5_000_000_000)

  @Test(.feature("S4.32")) func `nothing is grabbed while nothing changes`() {
    #expect(FrameClock(.init(framesPerSecond: 5)).nextGrab == nil)
  }

  @Test func `an isolated change is grabbed as soon as it is painted`() {
    var clock = FrameClock(.init(framesPerSecond: 5))
    clock.noteChange(at: Self.start)
    #expect(clock.nextGrab == Self.start + .milliseconds(1))
  }

  @Test func `a picture that is still being painted is waited for at most three milliseconds`() {
    var clock = FrameClock(.init(framesPerSecond: 5))
    for step in 0..<20 { clock.noteChange(at: Self.start + .microseconds(Int64(step) * 500)) }
    #expect(clock.nextGrab == Self.start + .milliseconds(3))
  }

  @Test func `a change too soon after a grab waits for the interval`() {
    var clock = FrameClock(.init(framesPerSecond: 5))
    clock.noteChange(at: Self.start)
    clock.noteGrab(at: Self.start + .milliseconds(1))
    clock.noteChange(at: Self.start + .milliseconds(20))
    // Up to a twentieth early is in time.
    #expect(clock.nextGrab == Self.start + .milliseconds(1 + 200 - 10))
  }

  @Test func `being early is paid back by the next grab`() {
    var screen = VirtualScreen(fps: 10)
    let changes = (0..<630).map { Self.start + .microseconds(Int64($0) * 95_200) }
    screen.run(changes: changes, until: Self.start + .seconds(60))
    #expect(screen.grabs.count <= 606)
    #expect(screen.grabs.count >= 540)
  }

  @Test(arguments: [10.0, 30, 60], [5.0, 15, 30]) func `pictures of rhythmic content are fresh and not too many`(
    hertz: Double, fps: Double
  ) {
    for phase in stride(from: Int64(0), to: 100, by: 3) {
      var screen = VirtualScreen(fps: fps)
      let changes = periodic(hertz, seconds: 20, jitter: .milliseconds(1), phase: .zero)
      screen.run(
        changes: changes, demand: Self.start + .milliseconds(1000 + phase), until: Self.start + .seconds(20))
      let late = screen.grabs.filter { $0.at >= Self.start + .seconds(2) }
      let rate = Double(late.count) / 18
      #expect(screen.meanAge(from: Self.start + .seconds(2)) <= .milliseconds(4), "phase \(phase)")
      #expect(rate <= fps * 1.02, "phase \(phase)")
      #expect(rate >= min(fps, hertz) * 0.9, "phase \(phase)")
    }
  }

  @Test func `content that stops on an odd beat is still shown soon`() {
    var screen = VirtualScreen(fps: 5)
    let changes = periodic(10, seconds: 3.1, jitter: .zero, phase: .zero)
    screen.run(changes: changes, until: Self.start + .seconds(10))
    let last = screen.grabs.last!
    #expect(last.newestChange == changes.last!)
    #expect(last.at - last.newestChange <= .milliseconds(320))
  }

  @Test func `content without rhythm is grabbed when the interval allows`() {
    var clock = FrameClock(.init(framesPerSecond: 5))
    let gaps: [Int64] = [31, 95, 12, 140, 55, 23, 170, 80]
    var now = Self.start
    for gap in gaps {
      clock.noteChange(at: now)
      now += .milliseconds(gap)
    }
    clock.noteGrab(at: now)
    clock.noteChange(at: now + .milliseconds(60))
    #expect(clock.nextGrab == now + .milliseconds(190))
  }

  @Test func `a demand is not delayed for quiet`() {
    var clock = FrameClock(.init(framesPerSecond: 5))
    clock.noteDemand(at: Self.start)
    #expect(clock.nextGrab! <= Self.start)
  }
}
