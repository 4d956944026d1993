import RTCAudio
import RTCPrimitives
import Testing

@Suite struct CaptureClockTests {
  /// Feeds 20 ms each, which arrive `lateness(n)` milliseconds after they were heard; how far off the times are.
  private func errors(_ count: Int, lateness: (Int) -> Double, delay: TimeDelta? = .zero) -> [Double] {
    var clock = CaptureClock()
    return (0..<count).map { number in
      let heard = 1_000 + Double(number) * 20
      let now = Timestamp(nanoseconds: Int64((heard + 20 + lateness(number)) * 1e6))
      let time = clock.time(ofSamples: 960, arrivedAt: now, deviceDelay: delay)
      return Double(time.nanoseconds) / 1e6 - heard
    }
  }

  @Test func `sound that arrives now sooner, now later has even times`() {
    var random = SeededGenerator(seed: 1)
    let errors = errors(1_000) { _ in random.nextUnit() * 15 }
    #expect(errors.dropFirst(100).allSatisfy { (-0.5...2).contains($0) })
  }

  @Test func `a pile that arrives after a stall has the times at which it was heard`() {
    // Half a second in which nothing is read, then all at once.
    let errors = errors(300) { (100..<125).contains($0) ? Double(125 - $0) * 20 : 0 }
    #expect(errors.allSatisfy { abs($0) < 1 })
  }

  @Test func `after sound was lost, times leap once it is certain`() {
    let errors = errors(300) { $0 < 100 ? 0 : 300 }
    #expect(errors[..<140].allSatisfy { abs($0) < 2 })
    #expect(errors[160...].allSatisfy { abs($0 - 300) < 2 })
  }

  @Test(arguments: [-100.0, 100, 500]) func `a device whose clock is off is followed`(partsPerMillion: Double) {
    let errors = errors(10_000) { Double($0) * 20 * partsPerMillion / 1e6 }
    let drifted = 10_000 * 20 * partsPerMillion / 1e6
    #expect(errors.last.map { abs($0 - drifted) < 1 } == true)
  }

  @Test func `the delay of a device counts, a wild one gradually`() {
    #expect(errors(10, lateness: { _ in 0 }, delay: .milliseconds(20)).allSatisfy { abs($0 + 20) < 0.1 })
    let ahead = errors(3_000, lateness: { _ in 0 }, delay: .milliseconds(-200))
    #expect(abs(ahead[0] - 40) < 1)
    #expect(abs(ahead[2_999] - 200) < 1)
    #expect(zip(ahead, ahead.dropFirst()).allSatisfy { abs($1 - $0) < 0.2 })
  }

  @Test func `a hole passes in time`() {
    var clock = CaptureClock()
    let first = clock.time(ofSamples: 960, arrivedAt: Timestamp(nanoseconds: 20_000_000), deviceDelay: nil)
    clock.skip(960)
    let second = clock.time(ofSamples: 960, arrivedAt: Timestamp(nanoseconds: 60_000_000), deviceDelay: nil)
    #expect(first == .zero && second == Timestamp(nanoseconds: 40_000_000))
  }
}
