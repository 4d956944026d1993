import RTCPrimitives
import RTCSRTP
import Testing

/// Invalid, truncated and forged packets among authentic ones.
@Suite struct BadPacketTests {
  /// A header of two CSRCs and an extension of three words.
  static let long: [UInt8] =
    [0x92, 96, 0, 9, 0, 0, 0, 1, 0, 0, 0, 7] + [UInt8](repeating: 0x11, count: 8) + [0xBE, 0xDE, 0, 3]
    + [UInt8](repeating: 0x22, count: 12) + [UInt8](repeating: 0x33, count: 40)

  @Test(arguments: SRTPProfile.allCases)
  func `CSRCs and header extensions stay in the clear and are authenticated`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTP(Self.long)
    #expect(protected[..<36] == Self.long[..<36] && protected[36..<76] != Self.long[36...])
    for place in 12..<36 {
      var changed = protected
      changed[place] ^= 1
      #expect(throws: SRTPError.self) { () throws(SRTPError) in try pair.receiver.openedRTP(changed) }
    }
    #expect(try pair.receiver.openedRTP(protected) == Self.long)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a header that claims more than there is is refused`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTP(Self.long)
    // The header's end within the tag, at the packet's, and beyond.
    for words in [8, 12, 14, 16, 100, 0xFFFF] {
      var changed = protected
      changed[22] = UInt8(words >> 8)
      changed[23] = UInt8(words & 0xFF)
      let isLong = 24 + 4 * words + profile.rtpOverhead > protected.count
      #expect(throws: isLong ? SRTPError.malformed : .authenticationFailed, "\(words) words") {
        () throws(SRTPError) in try pair.receiver.openedRTP(changed)
      }
      var plain = Self.long
      plain[22...23] = changed[22...23]
      if 24 + 4 * words > plain.count {
        #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try pair.sender.protectedRTP(plain) }
      }
    }
    for version in [0x00, 0x40, 0xC0] as [UInt8] {
      var changed = protected
      changed[0] = changed[0] & 0x3F | version
      #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try pair.receiver.openedRTP(changed) }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `packets without a payload are protected as well`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let packet = rtpPacket(1, payload: 0)
    #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(packet)) == packet)
    let report: [UInt8] = [0x80, 201, 0, 1, 1, 2, 3, 4]
    #expect(try pair.receiver.openedRTCP(try pair.sender.protectedRTCP(report)) == report)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `every bit of a tag counts, and what is forged leaves no trace`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let packet = rtpPacket(1)
    let protected = try pair.sender.protectedRTP(packet)
    for bit in 0..<profile.rtpOverhead * 8 {
      var forged = protected
      forged[packet.count + bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.receiver.openedRTP(forged) }
    }
    // Far ahead and from sources nobody knows: had either been noted, the genuine one would be too old or one of many.
    for number in 0..<500 as Range<UInt16> {
      var forged = protected
      forged[2] = UInt8(number >> 8) | 0x20
      forged[3] = UInt8(truncatingIfNeeded: number)
      forged[11] = UInt8(truncatingIfNeeded: number)
      #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.receiver.openedRTP(forged) }
    }
    #expect(pair.receiver.inboundSources == 0)
    #expect(try pair.receiver.openedRTP(protected) == packet)
    #expect(pair.receiver.inboundSources == 1)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a report cut short or of another version is refused for its form`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTCP(rtcpPacket)
    for count in 0..<8 + profile.rtcpOverhead {
      #expect(throws: SRTPError.malformed) { () throws(SRTPError) in
        try pair.receiver.openedRTCP(Array(protected[..<count]))
      }
    }
    var changed = protected
    changed[0] ^= 0xC0
    #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try pair.receiver.openedRTCP(changed) }
    for count in 0..<8 {
      #expect(throws: SRTPError.malformed) { () throws(SRTPError) in
        try pair.sender.protectedRTCP(Array(rtcpPacket[..<count]))
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `what other keys or the other direction protected is refused`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTP(rtpPacket(1))
    let report = try pair.sender.protectedRTCP(rtcpPacket)
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.sender.openedRTP(protected) }
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.sender.openedRTCP(report) }
  }
}
