import RTCPrimitives
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

  @Test(arguments: SRTPProfile.allCases)
  func `a session protects no more than its keys may, of all sources together`(_ profile: SRTPProfile) throws {
    let keys = try SRTPSessionKeys(makeKeys(profile).sender.local, profile)
    var session = try SRTPSession(profile: profile, local: keys, remote: keys, limits: (packets: 4, reports: 3))
    // What is refused uses up nothing.
    #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try session.protectedRTP([0x80]) }
    for source in 1...4 as ClosedRange<UInt32> { _ = try session.protectedRTP(rtpPacket(1, ssrc: source)) }
    for _ in 0..<3 { _ = try session.protectedRTCP(rtcpPacket) }
    #expect(throws: SRTPError.keyExpired) { () throws(SRTPError) in try session.protectedRTP(rtpPacket(2, ssrc: 1)) }
    #expect(throws: SRTPError.keyExpired) { () throws(SRTPError) in try session.protectedRTCP(rtcpPacket) }
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
