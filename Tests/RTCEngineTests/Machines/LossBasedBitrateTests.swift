import RTCEngine
import RTCPrimitives
import Testing

@Suite struct LossBasedBitrateTests {
  @Test func nothingSentTeachesNothing() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for _ in 0..<100 { bitrate.tick() }
    #expect(bitrate.current == .megabitsPerSecond(1))
    #expect(!bitrate.isNarrow)
  }

  /// S0.40, S0.41, S0.44.
  @Test func criticalLossStepsDownEachSecond() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.report(expected: 100, lost: 15)
    bitrate.tick()
    #expect(bitrate.current == .kilobitsPerSecond(750))
    #expect(bitrate.lastSecondLoss == 0.15 && bitrate.isNarrow)
    bitrate.report(expected: 100, lost: 10)
    bitrate.tick()
    #expect(bitrate.current == .bitsPerSecond(562_500))
    for _ in 0..<20 {
      bitrate.report(expected: 100, lost: 100)
      bitrate.tick()
    }
    #expect(bitrate.current == .kilobitsPerSecond(100))
  }

  /// S0.39, S0.42, S0.45.
  @Test func highLossStepsDownEveryFiveSeconds() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for second in 1...10 {
      bitrate.report(expected: 100, lost: 6)
      bitrate.tick()
      #expect(bitrate.current.bitsPerSecond == (second < 5 ? 1_000_000 : second < 10 ? 850_000 : 722_500))
    }
  }

  /// S0.36, S0.38, S0.43, S0.46.
  @Test func noLossStepsUpEveryFiveSecondsToTheCeiling() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits(maximum: .kilobitsPerSecond(1_200)))
    var rates: [Int64] = []
    for _ in 0..<15 {
      bitrate.report(expected: 100, lost: 0)
      bitrate.tick()
      rates.append(bitrate.current.bitsPerSecond)
    }
    #expect(rates[3] == 1_000_000 && rates[4] == 1_150_000 && rates[9] == 1_200_000 && rates[14] == 1_200_000)
  }

  @Test func betweenTheThresholdsItStays() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for _ in 0..<20 {
      bitrate.report(expected: 100, lost: 3)
      bitrate.tick()
    }
    #expect(bitrate.current == .megabitsPerSecond(1))
    #expect(bitrate.isNarrow)  // losing packets without overdriving it would not help
  }

  @Test func theReceiversOwnCeilingCounts() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.setRemoteMaximum(.kilobitsPerSecond(300))
    #expect(bitrate.current == .kilobitsPerSecond(300) && bitrate.isNarrow)
    bitrate.setRemoteMaximum(.kilobitsPerSecond(1))
    #expect(bitrate.current == .kilobitsPerSecond(100))  // never below the floor
    bitrate.setRemoteMaximum(.megabitsPerSecond(50))
    #expect(bitrate.current == .megabitsPerSecond(1))
  }

  @Test func moreLostThanExpectedIsAllLost() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.report(expected: 10, lost: 50)
    bitrate.report(expected: 0, lost: 3)
    bitrate.report(expected: 10, lost: -4)
    bitrate.tick()
    #expect(bitrate.lastSecondLoss == 0.5)
  }

  @Test func narrowerLimitsCountAtOnce() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.setLimits(BitrateLimits(maximum: .kilobitsPerSecond(500)))
    #expect(bitrate.current == .kilobitsPerSecond(500) && !bitrate.isNarrow)
  }
}
