import RTCEngine
import RTCPrimitives
import Testing

@Suite struct LossBasedBitrateTests {
  @Test func nothingSentTeachesNothing() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for _ in 0..<100 { bitrate.closeSecond() }
    #expect(bitrate.target == .megabitsPerSecond(1))
    #expect(!bitrate.isNarrow)
  }

  /// S0.40, S0.41, S0.44.
  @Test func criticalLossStepsDownEachSecond() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.report(expected: 100, lost: 15)
    bitrate.closeSecond()
    #expect(bitrate.target == .kilobitsPerSecond(750))
    #expect(bitrate.loss == 0.15 && bitrate.isNarrow)
    bitrate.report(expected: 100, lost: 10)
    bitrate.closeSecond()
    #expect(bitrate.target == .bitsPerSecond(562_500))
    for _ in 0..<20 {
      bitrate.report(expected: 100, lost: 100)
      bitrate.closeSecond()
    }
    #expect(bitrate.target == .kilobitsPerSecond(100))
  }

  /// S0.39, S0.42, S0.45.
  @Test func highLossStepsDownEveryFiveSeconds() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for second in 1...10 {
      bitrate.report(expected: 100, lost: 6)
      bitrate.closeSecond()
      #expect(bitrate.target.bitsPerSecond == (second < 5 ? 1_000_000 : second < 10 ? 850_000 : 722_500))
    }
  }

  /// S0.36, S0.38, S0.43, S0.46.
  @Test func noLossStepsUpEveryFiveSecondsToTheCeiling() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits(maximum: .kilobitsPerSecond(1_200)))
    var rates: [Int64] = []
    for _ in 0..<15 {
      bitrate.report(expected: 100, lost: 0)
      bitrate.closeSecond()
      rates.append(bitrate.target.bitsPerSecond)
    }
    #expect(rates[3] == 1_000_000 && rates[4] == 1_150_000 && rates[9] == 1_200_000 && rates[14] == 1_200_000)
  }

  @Test func betweenTheThresholdsItStays() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    for _ in 0..<20 {
      bitrate.report(expected: 100, lost: 3)
      bitrate.closeSecond()
    }
    #expect(bitrate.target == .megabitsPerSecond(1))
    #expect(bitrate.isNarrow)  // losing packets without overdriving it would not help
  }

  @Test func theReceiversOwnCeilingCounts() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.setRemoteMaximum(.kilobitsPerSecond(300))
    #expect(bitrate.target == .kilobitsPerSecond(300) && bitrate.isNarrow)
    bitrate.setRemoteMaximum(.kilobitsPerSecond(1))
    #expect(bitrate.target == .kilobitsPerSecond(100))  // never below the floor
    bitrate.setRemoteMaximum(.megabitsPerSecond(50))
    #expect(bitrate.target == .megabitsPerSecond(1))
  }

  @Test func moreLostThanExpectedIsAllLost() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.report(expected: 10, lost: 50)
    bitrate.report(expected: 0, lost: 3)
    bitrate.report(expected: 10, lost: -4)
    bitrate.closeSecond()
    #expect(bitrate.loss == 0.5)
  }

  @Test func narrowerLimitsCountAtOnce() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    bitrate.setLimits(BitrateLimits(maximum: .kilobitsPerSecond(500)))
    #expect(bitrate.target == .kilobitsPerSecond(500) && !bitrate.isNarrow)
  }

  @Test func soundAndWhatWasMerelyLateDoNotCount() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    func result(_ number: Int64, _ kind: SentPacket.Kind, arrived: Bool, late: Bool = false) -> PacketResult {
      PacketResult(
        packet: SentPacket(number: number, sendTime: .zero, size: 1_000, kind: kind),
        arrival: arrived ? .zero : nil, wasReportedLost: late)
    }
    bitrate.receive(
      [
        result(0, .video, arrived: true), result(1, .audio, arrived: false), result(2, .repair, arrived: false),
        result(3, .video, arrived: true, late: true), result(4, .audio, arrived: true),
        result(5, .video, arrived: true), result(6, .video, arrived: true),
      ], now: .zero)
    bitrate.closeSecond()
    #expect(bitrate.loss == 0.25)
  }

  @Test func secondsAreClosedAtItsDeadlines() {
    var bitrate = LossBasedBitrate(limits: BitrateLimits())
    #expect(bitrate.nextDeadline == .distantFuture)
    bitrate.start(.zero)
    bitrate.receiveLoss(expected: 100, lost: 50, now: .zero)
    bitrate.deadlineReached(.zero + .milliseconds(999))
    #expect(bitrate.loss == 0)
    bitrate.deadlineReached(bitrate.nextDeadline)
    #expect(bitrate.loss == 0.5 && bitrate.nextDeadline == .zero + .seconds(2))
  }
}
