import RTCPrimitives
import RTCSRTP
import Testing

/// Packets computed by another implementation (RFC 3711 key derivation and RFC 7714 in pyca/cryptography; the GCM one is
/// also in libsrtp's own tests), from the master keys of `makeKeys`.
@Suite struct KnownPacketTests {
  let plain = bytes("800f1234decafbadcafebabe") + [UInt8](repeating: 0xAB, count: 16)

  @Test func `gcm matches`() throws {
    var pair = try SRTPPair(.aeadAes128Gcm)
    let protected = try pair.sender.protectedRTP(plain)
    #expect(
      protected
        == bytes(
          "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392"))
    #expect(try pair.receiver.openedRTP(protected) == plain)
  }

  @Test func `counter mode matches`() throws {
    var pair = try SRTPPair(.aes128CmSha1_80)
    let protected = try pair.sender.protectedRTP(plain)
    #expect(
      protected == bytes("800f1234decafbadcafebabee2d8df8f7a75d688c3502eeec2a98066cd7c0d09ca4432a56e3d"))
    #expect(try pair.receiver.openedRTP(protected) == plain)
  }
}
