import FeatureKit
import RTCEngine
import RTCPrimitives
import Testing

@Suite struct SteppedBitrateTests {
  @Test func `nothing sent teaches nothing`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    for _ in 0..<100 { bitrate.closeSecond() }
    #expect(bitrate.target == .megabitsPerSecond(1))
    #expect(!bitrate.isNarrow)
  }

  @Test(.feature("S0.40", "S0.41", "S0.44")) func `critical loss steps down each second`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
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

  @Test(.feature("S0.39", "S0.42", "S0.45")) func `high loss steps down every five seconds`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    for second in 1...10 {
      bitrate.report(expected: 100, lost: 6)
      bitrate.closeSecond()
      #expect(bitrate.target.bitsPerSecond == (second < 5 ? 1_000_000 : second < 10 ? 850_000 : 722_500))
    }
  }

  @Test(.feature("S0.36", "S0.38", "S0.43", "S0.46")) func `no loss steps up every five seconds to the ceiling`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits(maximum: .kilobitsPerSecond(1_200)))
    var rates: [Int64] = []
    for _ in 0..<15 {
      bitrate.report(expected: 100, lost: 0)
      bitrate.closeSecond()
      rates.append(bitrate.target.bitsPerSecond)
    }
    #expect(rates[3] == 1_000_000 && rates[4] == 1_150_000 && rates[9] == 1_200_000 && rates[14] == 1_200_000)
  }

  /// A rate after each second's loss, in percent.
  private func rates(_ losses: [Int]) -> [Int64] {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    return losses.map { loss in
      bitrate.report(expected: 100, lost: loss)
      bitrate.closeSecond()
      return bitrate.target.bitsPerSecond
    }
  }

  @Test(.feature("S0.44")) func `critical is the loss of one second, whatever the nine before it were`() {
    #expect(rates([0, 0, 15]) == [1_000_000, 1_000_000, 750_000])
    // The clean second after it takes no step, although much was lost within ten.
    #expect(rates([0, 50, 50, 0]) == [1_000_000, 750_000, 562_500, 562_500])
  }

  @Test(.feature("S0.45")) func `high is the loss of ten seconds, not of the last five`() {
    let steps = rates([8, 8, 8, 8, 8, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3])
    #expect(steps[4] == 850_000)
    #expect(steps[9] == 722_500, "5.5 percent of ten seconds, 3 of the last five")
    #expect(steps[14] == 722_500, "3 percent of ten seconds: what was before them is forgotten")
  }

  @Test(.feature("S0.46")) func `little is the loss of ten seconds, not of the last five`() {
    let steps = rates([3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(steps[9] == 1_000_000, "1.5 percent of ten seconds, none of the last five")
    #expect(steps[14] == 1_150_000)
  }

  @Test func `between the thresholds it stays`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    for _ in 0..<20 {
      bitrate.report(expected: 100, lost: 3)
      bitrate.closeSecond()
    }
    #expect(bitrate.target == .megabitsPerSecond(1))
    #expect(bitrate.isNarrow)  // losing packets without overdriving it would not help
  }

  @Test func `the receiver's own ceiling counts`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    bitrate.setRemoteMaximum(.kilobitsPerSecond(300), now: .zero)
    #expect(bitrate.target == .kilobitsPerSecond(300) && bitrate.isNarrow)
    bitrate.setRemoteMaximum(.kilobitsPerSecond(1), now: .zero)
    #expect(bitrate.target == .kilobitsPerSecond(100))  // never below the floor
    bitrate.setRemoteMaximum(.megabitsPerSecond(50), now: .zero)
    #expect(bitrate.target == .megabitsPerSecond(1))
  }

  @Test func `more lost than expected is all lost`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    bitrate.report(expected: 10, lost: 50)
    bitrate.report(expected: 0, lost: 3)
    bitrate.report(expected: 10, lost: -4)
    bitrate.closeSecond()
    #expect(bitrate.loss == 0.5)
  }

  @Test func `narrower limits count at once`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    bitrate.setLimits(BitrateLimits(maximum: .kilobitsPerSecond(500)), now: .zero)
    #expect(bitrate.target == .kilobitsPerSecond(500) && !bitrate.isNarrow)
  }

  @Test func `sound and what was merely late do not count`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
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
      ], SendActivity(), now: .zero)
    bitrate.closeSecond()
    #expect(bitrate.loss == 0.25)
  }

  @Test func `seconds are closed at its deadlines`() {
    var bitrate = SteppedBitrate(limits: BitrateLimits())
    #expect(bitrate.nextDeadline == .distantFuture)
    bitrate.start(.zero)
    bitrate.receiveLoss(expected: 100, lost: 50, now: .zero)
    bitrate.deadlineReached(.zero + .milliseconds(999))
    #expect(bitrate.loss == 0)
    bitrate.deadlineReached(bitrate.nextDeadline)
    #expect(bitrate.loss == 0.5 && bitrate.nextDeadline == .zero + .seconds(2))
  }
}
