import RTCEngine
import RTCPrimitives
import Testing

@Suite struct ReceiveRate {
  private struct Sender {
    var estimate = ReceiveRateEstimate()
    var now = Timestamp.zero + .seconds(100)
    var picture: UInt32 = 4_294_900_000 / 3_000

    /// A second of 30 pictures at `rate`, each `late` later than the one before.
    mutating func second(_ rate: Int64, late: TimeDelta = .zero, delay: TimeDelta = .zero, lost: Double = 0) -> BitRate?
    {
      let begin = now
      for index in 0..<30 {
        let arrival = begin + .milliseconds(Int64(index) * 1_000 / 30) + delay + late * Int64(index)
        let timestamp = RTPTimestamp(picture &* 3_000)
        for _ in 0..<4 { estimate.add(Int(rate / 8 / 120), timestamp: timestamp, now: arrival) }
        picture &+= 1
      }
      now = begin + .seconds(1)
      return estimate.update(now + delay + late * 30, fractionLost: lost)
    }
  }

  @Test func `an open path is allowed half as much again, and never less for a rest`() throws {
    var sender = Sender()
    let said1 = sender.second(1_000_000)
    let first = try #require(said1)
    #expect(abs(first.bitsPerSecond - 1_500_000) < 100_000)
    let said2 = sender.second(1_500_000)
    let more = try #require(said2)
    #expect(abs(more.bitsPerSecond - 2_250_000) < 150_000)
    let said3 = sender.second(24_000)
    let atRest = try #require(said3)
    #expect(atRest == more)
  }

  @Test func `a queue that stands lowers it below what came, and it rises slowly then`() throws {
    var sender = Sender()
    for _ in 0..<5 { _ = sender.second(2_000_000) }
    _ = sender.second(2_000_000, late: .milliseconds(5))
    let said4 = sender.second(2_000_000, delay: .milliseconds(150))
    let full = try #require(said4)
    #expect(full.bitsPerSecond < 1_900_000)
    let said5 = sender.second(1_700_000)
    let after = try #require(said5)
    #expect(after <= full.scaled(by: 1.09))
  }

  @Test func `much loss lowers it`() throws {
    var sender = Sender()
    let said6 = sender.second(2_000_000)
    let before = try #require(said6)
    let said7 = sender.second(2_000_000, lost: 0.2)
    let after = try #require(said7)
    #expect(after < before && after.bitsPerSecond < 1_800_000)
  }

  @Test func `it keeps within its bounds`() {
    var sender = Sender()
    let said8 = sender.second(1_000)
    #expect(said8 == ReceiveRateEstimate.lowest)
    let said9 = sender.second(200_000_000)
    #expect(said9 == ReceiveRateEstimate.highest)
  }
}
