import RTCSRTP
import Testing

/// RFC 3711 §9.2.
@Suite struct KeyLimitTests {
  @Test func `a key protects as many packets as its limit and no more`() throws {
    var use = KeyUse(limit: 3)
    for _ in 0..<3 { try use.spend() }
    #expect(throws: SRTPError.keyExpired) { try use.spend() }
    #expect(throws: SRTPError.keyExpired) { try use.spend() }
    #expect(PacketIndex.limit == 1 << 48 && ReportIndex.limit == 1 << 31)
  }

  @Test func `an index of reports comes once`() throws {
    var index = ReportIndex(next: 0x7FFF_FFFE)
    #expect(try index.take() == 0x7FFF_FFFE)
    #expect(try index.take() == 0x7FFF_FFFF)
    #expect(throws: SRTPError.keyExpired) { () throws(SRTPError) in try index.take() }
    var first = ReportIndex()
    #expect(try first.take() == 0)
  }
}
