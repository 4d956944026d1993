import RTCPrimitives
import RTCSRTP
import Testing

/// SRTCP (RFC 3711 §3.4): the index that each report says.
@Suite struct ReportIndexTests {
  private static func report(_ source: UInt8) -> [UInt8] { [0x80, 201, 0, 1, 0, 0, 0, source] }

  private static func index(_ protected: [UInt8], _ profile: SRTPProfile) -> UInt32 {
    let end = profile == .aeadAes128Gcm ? protected.count : protected.count - 10
    return protected[end - 4..<end].reduce(0) { $0 << 8 | UInt32($1) }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `each source counts its reports from 0 on and says that they are encrypted`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for number in 0..<5 as Range<UInt32> {
      for source in 1...3 as ClosedRange<UInt8> {
        let protected = try pair.sender.protectedRTCP(Self.report(source))
        #expect(Self.index(protected, profile) == 1 << 31 | number)
        #expect(try pair.receiver.openedRTCP(protected) == Self.report(source))
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `reports may come in any order within the window, each once`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let all = try (0..<1_100).map { _ in try pair.sender.protectedRTCP(Self.report(1)) }
    _ = try pair.receiver.openedRTCP(all[1_099])
    #expect(throws: SRTPError.tooOld) { () throws(SRTPError) in try pair.receiver.openedRTCP(all[75]) }
    for number in stride(from: 1_098, through: 76, by: -1) { _ = try pair.receiver.openedRTCP(all[number]) }
    for report in all[76...] {
      #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.receiver.openedRTCP(report) }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `an index or an E bit that was changed is noticed`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTCP(Self.report(1))
    let place = protected.count - (profile == .aeadAes128Gcm ? 4 : 14)
    for (offset, bit) in [(0, 0x40), (3, 1), (2, 0x80)] as [(Int, UInt8)] {
      var changed = protected
      changed[place + offset] ^= bit
      #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.receiver.openedRTCP(changed) }
    }
    var clear = protected
    clear[place] ^= 0x80
    #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try pair.receiver.openedRTCP(clear) }
    #expect(try pair.receiver.openedRTCP(protected) == Self.report(1))
  }

  @Test(arguments: SRTPProfile.allCases)
  func `media and reports of one source have windows of their own`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for sequence in 0..<20 as Range<UInt16> {
      let packet = rtpPacket(sequence, ssrc: 1)
      #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(packet)) == packet)
      #expect(try pair.receiver.openedRTCP(try pair.sender.protectedRTCP(Self.report(1))) == Self.report(1))
    }
    #expect(pair.receiver.inboundSources == 1)
  }
}
