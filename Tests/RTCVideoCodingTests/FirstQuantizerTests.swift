import RTCMedia
import RTCPrimitives
import RTCVideoCoding
import Testing

/// The bytes that the first picture of something new may take.
@Suite struct FirstQuantizerTests {
  private static let pace = RefinementPlan.Pace(
    blocks: 100, interval: (rest: .milliseconds(40), movement: .milliseconds(80)), restingPass: .milliseconds(100),
    longestReadable: .seconds(Int64(4)), movingShare: (unreadable: 0.2, coarse: 0.3))

  /// The bytes that are asked about in turn, if only more than `least` would do.
  private static func asked(_ rate: BitRate, isBesideClock: Bool, least: Double) -> [Double] {
    let settings = VideoEncoderSettings(size: PixelSize(width: 640, height: 360), targetBitrate: rate)
    var plan = RefinementPlan(settings, pace) { _ in
      QuantizerGoals(4, perfect: nil, moving: 10, readable: 30, legible: 40, coarsest: 60, first: 20)
    }
    var now = Timestamp.zero + .seconds(1)
    for _ in 0..<6 where isBesideClock {
      now += .milliseconds(33)
      plan.noteChange(isLarge: false, now: now)
    }
    plan.budget.refill(now: now)
    var asked: [Double] = []
    _ = plan.firstQuantizer(coarsest: 60, now: now) { bytes in
      asked.append(bytes)
      return bytes > least ? 30 : nil
    }
    return asked
  }

  @Test func `beside a clock on a slow link it takes 80 ms of the rate, or more if it must`() {
    let alone = Self.asked(.megabitsPerSecond(2), isBesideClock: false, least: 0)
    #expect(alone.count == 1 && alone[0] > 20_000)
    #expect(Self.asked(.megabitsPerSecond(2), isBesideClock: true, least: 0) == [20_000])
    #expect(Self.asked(.megabitsPerSecond(2), isBesideClock: true, least: 20_000) == [20_000] + alone)
  }

  @Test func `a fast link has room for both`() {
    let rate = BitRate.megabitsPerSecond(8)
    #expect(Self.asked(rate, isBesideClock: true, least: 0) == Self.asked(rate, isBesideClock: false, least: 0))
  }
}
