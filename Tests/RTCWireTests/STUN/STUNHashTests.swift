import RTCPrimitives
import RTCWire
import Testing

/// RFC 3174 §7.3, RFC 2202 §3, RFC 1321 §A.5, and the CRC catalogue's check value.
@Suite struct STUNHashTests {
  private func sha1(_ text: String, times: Int = 1) -> String {
    var hash = SHA1()
    let bytes = Array(text.utf8)
    for _ in 0..<times { hash.update(bytes.span) }
    let digest = hash.finish()
    return hexText(digest.span)
  }

  private func hmac(_ key: [UInt8], _ data: [UInt8]) -> String {
    let digest = STUNIntegrityKey(key.span).authenticate(data.span)
    return hexText(digest.span)
  }

  @Test func `hashes the vectors of RFC 3174`() {
    #expect(sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    #expect(sha1("a", times: 1_000_000) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    #expect(
      sha1("0123456701234567012345670123456701234567012345670123456701234567", times: 10)
        == "dea356a2cddd90c7a7ecedc5ebb563934f460452")
    #expect(sha1("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
  }

  @Test func `authenticates the vectors of RFC 2202`() {
    let text = { (s: String) in Array(s.utf8) }
    let bytes = { (byte: UInt8, count: Int) in [UInt8](repeating: byte, count: count) }
    #expect(hmac(bytes(0x0B, 20), text("Hi There")) == "b617318655057264e28bc0b6fb378c8ef146be00")
    #expect(
      hmac(text("Jefe"), text("what do ya want for nothing?")) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    #expect(hmac(bytes(0xAA, 20), bytes(0xDD, 50)) == "125d7342b9ac11cd91a39af48aa17b4f63f175d3")
    #expect(hmac(Array(1...25), bytes(0xCD, 50)) == "4c9007f4026250c6bc8414f9bf50c86c2d7235da")
    #expect(hmac(bytes(0x0C, 20), text("Test With Truncation")) == "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04")
    #expect(
      hmac(bytes(0xAA, 80), text("Test Using Larger Than Block-Size Key - Hash Key First"))
        == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
    #expect(
      hmac(bytes(0xAA, 80), text("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data"))
        == "e8e99d0f45237d786d6bbaa7965c7808bbff1a91")
  }

  @Test func `hashes the vectors of RFC 1321`() {
    func md5(_ text: String) -> String {
      var hash = MD5()
      let bytes = Array(text.utf8)
      hash.update(bytes.span)
      let digest = hash.finish()
      return hexText(digest.span)
    }
    #expect(md5("") == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(md5("a") == "0cc175b9c0f1b6a831c399e269772661")
    #expect(md5("abc") == "900150983cd24fb0d6963f7d28e17f72")
    #expect(md5("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(md5("abcdefghijklmnopqrstuvwxyz") == "c3fcd3d76192e4007dfb496cca67e13b")
    #expect(
      md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == "d174ab98d277d9f5a5611c2c9f419d9f")
    #expect(md5(String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a")
  }

  @Test func `sums the check string of CRC-32`() {
    let bytes = Array("123456789".utf8)
    #expect(CRC32.checksum(bytes.span) == 0xCBF4_3926)
    let none: [UInt8] = []
    #expect(CRC32.checksum(none.span) == 0)
  }

  @Test func `compares whole`() {
    let (some, other, less): ([UInt8], [UInt8], [UInt8]) = ([1, 2, 3], [1, 2, 4], [1, 2])
    #expect(equalInConstantTime(some.span, some.span) == true)
    #expect(equalInConstantTime(some.span, other.span) == false)
    #expect(equalInConstantTime(some.span, less.span) == false)
  }
}

func hexText(_ bytes: Span<UInt8>) -> String {
  bytes.indices.map { (bytes[$0] < 16 ? "0" : "") + String(bytes[$0], radix: 16) }.joined()
}

/// Bytes from hexadecimal text; white space is passed over.
func stunBytes(hex text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
