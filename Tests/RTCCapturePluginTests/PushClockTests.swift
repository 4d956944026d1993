import FeatureKit
import RTCCapturePlugin
import RTCIsolation
import RTCMedia
import RTCPrimitives
import Testing

private let start = Timestamp(nanoseconds: 50_000_000_000)

@Suite struct PushClockTests {
  @Test(.feature("S0.73")) func `no time means now`() {
    let clock = PictureClock()
    #expect(clock.time(0, now: start).time == start)
  }

  @Test func `a time on another clock is replaced by the present`() {
    let clock = PictureClock()
    for given in [1, 1_700_000_000_000_000_000, -5, Int64.min, Int64.max] {
      let (time, fault) = clock.time(given, now: start)
      #expect(time == start)
      #expect(fault == .timeFarOff)
    }
  }

  @Test func `a time that goes backwards is moved on`() {
    var clock = PictureClock()
    clock.note(start)
    let (time, fault) = clock.time(start.nanoseconds - 1_000_000, now: start + .milliseconds(5))
    #expect(time > start)
    #expect(fault == .timeBackwards)
  }

  @Test func `pacing forgives a quarter of an interval but not the rate`() {
    var pacing = PicturePacing(frameRate: 50)
    var taken = 0
    for step in 0..<1000 where pacing.opening(now: start + .milliseconds(Int64(step))) == nil {
      pacing.note(at: start + .milliseconds(Int64(step)))
      taken += 1
    }
    #expect((50...51).contains(taken))
  }

  @Test func `pictures at the rate asked for all pass in spite of jitter`() {
    var pacing = PicturePacing(frameRate: 30)
    for step in 0..<300 {
      let jitter = TimeDelta.milliseconds(Int64(step * 7 % 15) - 7)
      let now = start + .seconds(Double(step) / 30) + jitter
      #expect(pacing.opening(now: now) == nil)
      pacing.note(at: now)
    }
  }

  @Test func `sound follows upon sound to the sample`() {
    var clock = SoundClock()
    var expected = start
    for step in 0..<200 {
      let now = start + .milliseconds(Int64(step * 10 + step * 3 % 7))
      let time = clock.time(0, now: now).time
      #expect(time == expected)
      let sound = AudioFrame(format: .opus, samples: [Float](repeating: 0, count: 960), captureTime: time)
      clock.note(sound)
      expected = time + sound.duration
    }
  }

  @Test func `sound after a pause begins at the present`() {
    var clock = SoundClock()
    clock.note(AudioFrame(format: .opus, samples: [Float](repeating: 0, count: 960), captureTime: start))
    #expect(clock.time(0, now: start + .seconds(3)).time == start + .seconds(3))
  }
}

@Suite struct RestartLimitTests {
  /// Which of five restarts a second apart and of those at `moments` are allowed.
  private func allowed(_ moments: [Int64]) -> [Bool] {
    var limit = RestartLimit()
    return (Array(0..<5) + moments).map { limit.allows(at: start + .seconds($0)) }
  }

  @Test func `five in a minute and no more`() {
    #expect(allowed([59]) == [true, true, true, true, true, false])
  }

  @Test func `a minute later there is room again`() {
    #expect(allowed([60, 60]) == [true, true, true, true, true, true, false])
  }
}
