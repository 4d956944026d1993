import RTCPrimitives
import RTCSRTP
import Testing

/// The figures of RFC 3711 appendix B.
@Suite struct CounterModeVectorTests {
  /// Packet 0 of source 0, whose counter blocks are the salt's alone.
  @Test func `the keystream is that of appendix B`() throws {
    let stream = SRTPSessionKeys.Stream(
      encryption: bytes("2B7E151628AED2A6ABF7158809CF4F3C"), authentication: [UInt8](repeating: 0, count: 20),
      salt: bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD"))
    let keys = SRTPSessionKeys(rtp: stream, rtcp: stream)
    var session = try SRTPSession(profile: .aes128CmSha1_80, local: keys, remote: keys)
    let packet = [0x80] + [UInt8](repeating: 0, count: 11 + 0xFF02 * 16)
    let protected = try session.protectedRTP(packet)
    for (block, expected) in [
      (0, "E03EAD0935C95E80E166B16DD92B4EB4"), (1, "D23513162B02D0F72A43A2FE4A5F97AB"),
      (2, "41E95B3BB0A2E8DD477901E4FCA894C0"), (0xFEFF, "EC8CDF7398607CB0F2D21675EA9EA1E4"),
      (0xFF00, "362B7C3C6773516318A077D7FC5073AE"), (0xFF01, "6A2CC3787889374FBEB4C81B17BA6C44"),
    ] {
      let start = 12 + 16 * block
      #expect(Array(protected[start..<start + 16]) == bytes(expected), "block \(block)")
    }
    #expect(try session.openedRTP(protected) == packet)
  }

  @Test func `keys are derived as in appendix B`() throws {
    let master = SRTPMasterKey(
      key: bytes("E1F97A0D3E018BE0D64FA32C06DE4139"), salt: bytes("0EC675AD498AFEEBB6960B3AABE6"))
    let keys = try SRTPSessionKeys(master, .aes128CmSha1_80)
    #expect(keys.rtp.encryption == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
    #expect(keys.rtp.salt == bytes("30CBBC08863D8C85D49DB34A9AE1"))
    #expect(keys.rtp.authentication == bytes("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
  }

  @Test func `each key and salt of a session is another`() throws {
    let keys = try SRTPSessionKeys(makeKeys(.aes128CmSha1_80).sender.local, .aes128CmSha1_80)
    let all = [keys.rtp, keys.rtcp].flatMap { [$0.encryption, $0.salt, Array($0.authentication.prefix(16))] }
    #expect(Set(all.map { Array($0.prefix(14)) }).count == 6)
    #expect("\(keys)" == "SRTPSessionKeys(hidden)" && "\(keys.rtp)" == "SRTPSessionKeys.Stream(hidden)")
  }
}
