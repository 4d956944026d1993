import RTCPrimitives
import RTCSrtp
import Testing

@Suite struct SrtpSessionTests {
  @Test(arguments: SrtpProfile.allCases)
  func whatIsProtectedOpensAgain(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    for sequence in 1...50 as ClosedRange<UInt16> {
      let packet = rtpPacket(sequence, payload: Int(sequence) * 20)
      let protected = try pair.sender.protectedRTP(packet)
      #expect(protected.count == packet.count + profile.rtpOverhead)
      #expect(protected[..<12] == packet[..<12] && protected[12...] != packet[12...])
      #expect(try pair.receiver.openedRTP(protected) == packet)
    }
  }

  @Test(arguments: SrtpProfile.allCases)
  func reportsOpenAgain(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    for _ in 0..<5 {
      let protected = try pair.sender.protectedRTCP(rtcpPacket)
      #expect(protected.count == rtcpPacket.count + profile.rtcpOverhead)
      #expect(try pair.receiver.openedRTCP(protected) == rtcpPacket)
      #expect(throws: SrtpError.replayed) { () throws(SrtpError) in try pair.receiver.openedRTCP(protected) }
    }
  }

  @Test(arguments: SrtpProfile.allCases)
  func eachTamperedByteIsNoticed(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    let packet = rtpPacket(1, payload: 20)
    let protected = try pair.sender.protectedRTP(packet)
    for index in 1..<protected.count where !(8..<12).contains(index) {  // the SSRC picks the stream: see below
      var tampered = protected
      tampered[index] ^= 0x10
      #expect(throws: SrtpError.authenticationFailed, "byte \(index)") { () throws(SrtpError) in
        try pair.receiver.openedRTP(tampered)
      }
    }
    var otherStream = protected
    otherStream[8] ^= 1
    #expect(throws: SrtpError.authenticationFailed) { () throws(SrtpError) in try pair.receiver.openedRTP(otherStream) }
    #expect(try pair.receiver.openedRTP(protected) == packet)  // refusals leave no trace
    var report = try pair.sender.protectedRTCP(rtcpPacket)
    report[20] ^= 1
    #expect(throws: SrtpError.authenticationFailed) { () throws(SrtpError) in try pair.receiver.openedRTCP(report) }
  }

  @Test(arguments: SrtpProfile.allCases)
  func aReplayIsRefused(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    let first = try pair.sender.protectedRTP(rtpPacket(1))
    _ = try pair.receiver.openedRTP(first)
    #expect(throws: SrtpError.replayed) { () throws(SrtpError) in try pair.receiver.openedRTP(first) }
    #expect(throws: SrtpError.replayed) { () throws(SrtpError) in try pair.sender.protectedRTP(rtpPacket(1)) }
  }

  @Test(arguments: SrtpProfile.allCases)
  func latePacketsPassWithinTheWindowOnly(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    let protected = try (1...1200).map { try pair.sender.protectedRTP(rtpPacket(UInt16($0))) }
    _ = try pair.receiver.openedRTP(protected[1199])
    #expect(try pair.receiver.openedRTP(protected[1199 - 1000]) == rtpPacket(200))
    #expect(throws: SrtpError.tooOld) { () throws(SrtpError) in try pair.receiver.openedRTP(protected[0]) }
  }

  @Test(arguments: SrtpProfile.allCases)
  func theSequenceNumberMayWrapAgainAndAgain(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    var sequence: UInt16 = 65_000
    for index in 0..<400 {
      let packet = rtpPacket(sequence, payload: 10)
      let protected = try pair.sender.protectedRTP(packet)
      if index % 3 != 1 { #expect(try pair.receiver.openedRTP(protected) == packet) }  // a third is lost
      sequence &+= 500
    }
  }

  @Test func streamsAreIndependent() throws {
    var pair = try SrtpPair(.aeadAes128Gcm)
    for ssrc in 1...20 as ClosedRange<UInt32> {
      let packet = rtpPacket(7, ssrc: ssrc)
      let protected = try pair.sender.protectedRTP(packet)
      #expect(try pair.receiver.openedRTP(protected) == packet)
    }
  }

  @Test(arguments: SrtpProfile.allCases)
  func whatIsNotAPacketIsRefused(_ profile: SrtpProfile) throws {
    var pair = try SrtpPair(profile)
    let protected = try pair.sender.protectedRTP(rtpPacket(1))
    for length in 0..<protected.count {
      #expect(throws: SrtpError.self) { () throws(SrtpError) in
        try pair.receiver.openedRTP(Array(protected[..<length]))
      }
    }
    let report = try pair.sender.protectedRTCP(rtcpPacket)
    for length in 0..<report.count {
      #expect(throws: SrtpError.self) { () throws(SrtpError) in try pair.receiver.openedRTCP(Array(report[..<length])) }
    }
    #expect(throws: SrtpError.malformed) { () throws(SrtpError) in try pair.sender.protectedRTP([0x80]) }
  }

  @Test func keysAreNeverPrinted() {
    let keys = makeKeys(.aeadAes128Gcm).sender
    #expect("\(keys)" == "SrtpKeys(aeadAes128Gcm)" && "\(keys.local)" == "SrtpMasterKey(hidden)")
  }
}
