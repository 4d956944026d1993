import RTCEngine
import RTCPrimitives
import Testing

@Suite struct ReceptionStatisticsTests {
  private func arrival(_ n: Int64) -> Timestamp { .zero + .milliseconds(n) }

  @Test func `loss is counted since the last report and in all`() {
    var statistics = ReceptionStatistics(first: Extended(65_536 + 65_530))
    for n in 0..<100 as Range<Int64> where n % 4 != 3 {
      statistics.count(Extended(65_536 + 65_530 + n), timestamp: RTPTimestamp(0), arrival: arrival(0))
    }
    // 100 of which the last is missing: 99 are expected, 75 came.
    #expect(statistics.expected == 99 && statistics.cumulativeLost == 24)
    #expect(statistics.takeFractionLost() == UInt8(24 * 256 / 99))
    #expect(statistics.takeFractionLost() == 0)
    // One wrap since the first packet, whatever room there was below.
    #expect(statistics.reportedHighest == 65_536 + 92)
  }

  @Test func `duplicates make loss negative`() {
    var statistics = ReceptionStatistics(first: Extended(65_540))
    for _ in 0..<3 { statistics.count(Extended(65_540), timestamp: RTPTimestamp(0), arrival: arrival(0)) }
    #expect(statistics.cumulativeLost == -2 && statistics.takeFractionLost() == 0)
    #expect(statistics.reportedHighest == 4)
  }

  @Test func `even arrival has no jitter and uneven has some`() {
    var even = ReceptionStatistics(first: Extended(65_536))
    var uneven = ReceptionStatistics(first: Extended(65_536))
    for n in 0..<200 as Range<Int64> {
      let timestamp = RTPTimestamp(UInt32(n) &* 1_800 &- 90_000)
      even.count(Extended(65_536 + n), timestamp: timestamp, arrival: arrival(20 * n))
      uneven.count(Extended(65_536 + n), timestamp: timestamp, arrival: arrival(20 * n + (n & 1) * 10))
    }
    #expect(even.jitter == 0)
    #expect((800...900).contains(uneven.jitter))  // 10 ms are 900 units
  }
}
