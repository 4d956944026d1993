import RTCDTLS
import Testing

@Suite struct WebCertificateTests {
  @Test func `a certificate made here is valid, has a key, and is read back with the same fingerprint`() throws {
    let made = try WebCertificate(
      names: ["localhost", "bad name,IP:1.2.3.4", ""], addresses: ["127.0.0.1", "::1", "x"])
    #expect(made.isValid)
    #expect(String(decoding: made.certificate, as: UTF8.self).hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    let key = try #require(made.privateKey)
    #expect(String(decoding: key, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let read = try WebCertificate(parsing: made.certificate)
    #expect(read.fingerprint == made.fingerprint && read.isValid && read.privateKey == nil)
    #expect(try WebCertificate(names: [], addresses: []).fingerprint != made.fingerprint)
  }

  @Test func `one whose time is over is not valid`() throws {
    #expect(try !WebCertificate(parsing: Array(Self.expired.utf8)).isValid)
  }

  @Test(arguments: ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func `what is no certificate is an error`(text: String) {
    #expect(throws: OpenSSLError.self) { try WebCertificate(parsing: Array(text.utf8)) }
  }

  /// Good from 1 to 2 January 2020.
  private static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBCDCBr6ADAgECAgEBMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMMA29sZDAeFw0y
    MDAxMDEwMDAwMDBaFw0yMDAxMDIwMDAwMDBaMA4xDDAKBgNVBAMMA29sZDBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABGycirkK2gjn7TaJclwidwiqp01Pe2POlt+y
    KieIauziudvBEkf+aw24MBRsn2pODjIsCVNEOlEsu7nBD1g1MaEwCgYIKoZIzj0E
    AwIDSAAwRQIgaZDmWBrm1RTy7VmsLkpyQGohmrU8EI04Ug2B1+02Q34CIQCmRnXQ
    iRHC0psiYMMYbbWfxjpyQ4Q0aTHqajhI8OJTXA==
    -----END CERTIFICATE-----
    """
}
