import RTCEngine
import RTCPrimitives
import Testing

/// The code of two certificates that people compare.
@Suite struct KeyCodeTests {
  private func fingerprint(_ first: UInt8, _ rest: UInt8 = 7) -> CertificateFingerprint {
    CertificateFingerprint(sha256: [first] + [UInt8](repeating: rest, count: 31))!
  }

  @Test func `both sides have the same code, and other keys another`() {
    let (a, b) = (fingerprint(0x0A), fingerprint(0xF0))
    #expect(a.keyCode(with: b) == "0a07-0707-0707-f007-0707-0707")
    #expect(b.keyCode(with: a) == a.keyCode(with: b))
    #expect(a.keyCode(with: fingerprint(0xF0, 8)) != a.keyCode(with: b))
    #expect(fingerprint(0x0A, 8).keyCode(with: b) != a.keyCode(with: b))
  }

  @Test func `other hashes have none`() {
    let other = CertificateFingerprint(algorithm: "sha-512", bytes: [UInt8](repeating: 1, count: 64))
    #expect(fingerprint(1).keyCode(with: other) == nil && other.keyCode(with: fingerprint(1)) == nil)
  }
}
