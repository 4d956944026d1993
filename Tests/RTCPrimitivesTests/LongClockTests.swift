import RTCPrimitives
import Testing

/// Clocks run for a hundred years, and differences of any two moments are taken.
@Suite struct LongClockTests {
  private static let year = TimeDelta.seconds(Int64(365 * 86_400))

  @Test(arguments: [8_000, 48_000, 90_000, 1_000_000_000] as [Int64])
  func `a clock of any rate counts to a hundred years and back`(_ rate: Int64) {
    for years in [1, 3, 6, 10, 97, 98, 100] as [Int64] {
      let moment = Timestamp.zero + Self.year * years + .microseconds(123_457)
      let ticks = moment.ticks(atRate: rate)
      #expect(ticks == years * 365 * 86_400 * rate + 123_457 * rate / 1_000_000)
      let back = TimeDelta.ticks(ticks, atRate: rate)
      #expect(abs((Timestamp.zero + back - moment).nanoseconds) <= 1_000_000_000 / rate + 1)
      #expect(TimeDelta.ticks(-ticks, atRate: rate) == .zero - back)
    }
  }

  @Test func `no time and no count is too large`() {
    for rate in [1, 48_000, 90_000, 1_000_000_000] as [Int64] {
      for extreme in [Int64.min, Int64.min / 2, Int64.max / 2, Int64.max] {
        _ = TimeDelta(nanoseconds: extreme).ticks(atRate: rate)
        _ = TimeDelta.ticks(extreme, atRate: rate)
      }
    }
    #expect(TimeDelta.ticks(.max, atRate: 1) > Self.year * 290 && TimeDelta.ticks(.min, atRate: 1) < Self.year * -290)
  }
}
