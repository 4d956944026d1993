import RTCPrimitives
import Testing

@Suite struct SerialNumberTests {
  @Test func `orders across the wrap`() {
    let before = SequenceNumber(65_534)
    let after = SequenceNumber(3)
    #expect(after.isNewer(than: before) && !before.isNewer(than: after) && !before.isNewer(than: before))
    #expect(after.distance(from: before) == 5 && before.distance(from: after) == -5)
    #expect(before.advanced(by: 5) == after && after.advanced(by: -5) == before)
  }

  @Test func `extends to the nearest`() {
    let at = Extended<SequenceNumber>(65_534)
    #expect(at.nearest(SequenceNumber(3)).value == 65_539)
    #expect(at.nearest(SequenceNumber(65_000)).value == 65_000)
    #expect(Extended<RTPTimestamp>(0).nearest(RTPTimestamp(.max)).value == -1)
  }

  @Test func `B14: leaps that add up to the end of 64 bits wrap`() {
    var number = Extended<RTPTimestamp>(.max - 5)
    for _ in 0..<4 { number = number.nearest(RTPTimestamp(number.low.value &+ 0x7FFF_FFFF)) }
    #expect(number.value == Int64.min + 4 * 0x7FFF_FFFF - 6)
  }
}
