import RTCPrimitives
import RTCSRTP
import Testing

/// The packets of RFC 7714 §16.1 and §17.1, from session keys.
@Suite struct GCMVectorTests {
  let rtp = bytes(
    "8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573")
  let protectedRTP = bytes(
    """
    8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf
    8833899d 7f27beb1 6a9152cf 765ee439 0cce
    """)
  let rtcp = bytes(
    """
    81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef
    """)
  let protectedRTCP = bytes(
    """
    81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded
    0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
    """)
  /// §17.3: what is authenticated alone.
  let taggedRTCP = bytes(
    """
    81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef
    841dd968 3dd78ec9 2ae58790 125f62b3 000005d4
    """)

  func makeSession() throws -> SRTPSession {
    let stream = SRTPSessionKeys.Stream(
      encryption: bytes("000102030405060708090a0b0c0d0e0f"), salt: bytes("51756964 2070726f 2071756f"))
    let keys = SRTPSessionKeys(rtp: stream, rtcp: stream)
    return try SRTPSession(profile: .aeadAes128Gcm, local: keys, remote: keys)
  }

  @Test func `the packet of RFC 7714 is protected and opened as there`() throws {
    var session = try makeSession()
    #expect(try session.protectedRTP(rtp) == protectedRTP)
    #expect(try session.openedRTP(protectedRTP) == rtp)
  }

  @Test func `the report of RFC 7714 is protected and opened as there`() throws {
    var session = try makeSession()
    for _ in 0..<0x5D4 { _ = try session.protectedRTCP(rtcp) }
    #expect(try session.protectedRTCP(rtcp) == protectedRTCP)
    #expect(try session.openedRTCP(protectedRTCP) == rtcp)
  }

  @Test func `a report that is authenticated but not encrypted is refused`() throws {
    var session = try makeSession()
    #expect(throws: SRTPError.malformed) { () throws(SRTPError) in try session.openedRTCP(taggedRTCP) }
    // Nor does it pass for an encrypted one.
    var claimed = taggedRTCP
    claimed[claimed.count - 4] |= 0x80
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try session.openedRTCP(claimed) }
  }
}
