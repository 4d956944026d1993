import RTCPrimitives
import RTCSRTP
import Testing

@Suite struct SRTPSessionTests {
  @Test(arguments: SRTPProfile.allCases) func `what is protected opens again`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for sequence in 1...50 as ClosedRange<UInt16> {
      let packet = rtpPacket(sequence, payload: Int(sequence) * 20)
      let protected = try pair.sender.protectedRTP(packet)
      #expect(protected.count == packet.count + profile.rtpOverhead)
      #expect(protected[..<12] == packet[..<12] && protected[12...] != packet[12...])
      #expect(try pair.receiver.openedRTP(protected) == packet)
    }
  }

  @Test(arguments: SRTPProfile.allCases) func `reports open again`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for _ in 0..<5 {
      let protected = try pair.sender.protectedRTCP(rtcpPacket)
      #expect(protected.count == rtcpPacket.count + profile.rtcpOverhead)
      #expect(try pair.receiver.openedRTCP(protected) == rtcpPacket)
      #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.receiver.openedRTCP(protected) }
    }
  }

  @Test(arguments: SRTPProfile.allCases) func `each tampered byte is noticed`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let packet = rtpPacket(1, payload: 20)
    let protected = try pair.sender.protectedRTP(packet)
    for index in 1..<protected.count where !(8..<12).contains(index) {  // the SSRC picks the stream: see below
      var tampered = protected
      tampered[index] ^= 0x10
      #expect(throws: SRTPError.authenticationFailed, "byte \(index)") { () throws(SRTPError) in
        try pair.receiver.openedRTP(tampered)
      }
    }
    var otherStream = protected
    otherStream[8] ^= 1
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.receiver.openedRTP(otherStream) }
    #expect(try pair.receiver.openedRTP(protected) == packet)  // refusals leave no trace
    var report = try pair.sender.protectedRTCP(rtcpPacket)
    report[20] ^= 1
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try pair.receiver.openedRTCP(report) }
  }

  @Test(arguments: SRTPProfile.allCases) func `a replay is refused`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let first = try pair.sender.protectedRTP(rtpPacket(1))
    _ = try pair.receiver.openedRTP(first)
    #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.receiver.openedRTP(first) }
    #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.sender.protectedRTP(rtpPacket(1)) }
  }

  @Test(arguments: SRTPProfile.allCases) func `late packets pass within the window only`(_ profile: SRTPProfile) throws
  {
    var pair = try SRTPPair(profile)
    let protected = try (1...1200).map { try pair.sender.protectedRTP(rtpPacket(UInt16($0))) }
    _ = try pair.receiver.openedRTP(protected[1199])
    #expect(try pair.receiver.openedRTP(protected[1199 - 1000]) == rtpPacket(200))
    #expect(throws: SRTPError.tooOld) { () throws(SRTPError) in try pair.receiver.openedRTP(protected[0]) }
  }

  @Test(arguments: SRTPProfile.allCases) func `the sequence number may wrap again and again`(_ profile: SRTPProfile)
    throws
  {
    var pair = try SRTPPair(profile)
    var sequence: UInt16 = 65_000
    for index in 0..<400 {
      let packet = rtpPacket(sequence, payload: 10)
      let protected = try pair.sender.protectedRTP(packet)
      if index % 3 != 1 { #expect(try pair.receiver.openedRTP(protected) == packet) }  // a third is lost
      sequence &+= 500
    }
  }

  @Test func `streams are independent`() throws {
    var pair = try SRTPPair(.aeadAes128Gcm)
    for ssrc in 1...20 as ClosedRange<UInt32> {
      let packet = rtpPacket(7, ssrc: ssrc)
      let protected = try pair.sender.protectedRTP(packet)
      #expect(try pair.receiver.openedRTP(protected) == packet)
    }
  }

  @Test(arguments: SRTPProfile.allCases) func `what is not a packet is refused`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    let protected = try pair.sender.protectedRTP(rtpPacket(1))
    for length in 0..<protected.count {
      #expect(throws: SRTPError.self) { () throws(SRTPError) in
        try pair.receiver.openedRTP(Array(protected[..<length]))
      }
    }
    let report = try pair.sender.protectedRTCP(rtcpPacket)
    for length in 0..<report.count {
      #expect(throws: SRTPError.self) { () throws(SRTPError) in try pair.receiver.openedRTCP(Array(report[..<length])) }
    }
    #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try pair.sender.protectedRTP([0x80]) }
  }

  @Test func `keys are never printed`() {
    let keys = makeKeys(.aeadAes128Gcm).sender
    #expect("\(keys)" == "SRTPKeys(aeadAes128Gcm)" && "\(keys.local)" == "SRTPMasterKey(hidden)")
  }
}
