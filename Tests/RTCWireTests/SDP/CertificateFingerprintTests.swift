import RTCPrimitives
import RTCWire
import Testing

@Suite struct CertificateFingerprintTests {
  private let digits = (0..<32).map { ($0 < 6 ? "0A" : "F" + String($0 % 10)) }.joined(separator: ":")

  @Test func `digits of either case are read as they are written`() throws {
    let fingerprint = try #require(CertificateFingerprint(parsing: "SHA-256 \(digits)"))
    #expect(fingerprint.isSHA256 && fingerprint.digits == digits)
    #expect(CertificateFingerprint(parsing: "sha-256 \(digits.lowercased())") == fingerprint)
    #expect(CertificateFingerprint(sha256: fingerprint.bytes) == fingerprint)
    #expect(CertificateFingerprint(parsing: "sha-256 \(digits):00")?.isSHA256 == false)
  }

  @Test func `what is no fingerprint is none`() {
    let signed = "+1" + digits.dropFirst(2)
    for bad in ["", "AA", String(digits.dropLast()), digits.replacing(":", with: "-"), signed] {
      #expect(CertificateFingerprint(parsing: "sha-256 \(bad)") == nil, "\(bad)")
    }
    #expect(CertificateFingerprint(parsing: digits[...]) == nil)
  }
}
