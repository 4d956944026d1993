import Glibc
import RTCDTLS
import RTCPrimitives
import RTCSignalingNIO

/// The server's TLS certificate and key, from files or made here.
struct ServeCertificate {
  let identity: TLSIdentity
  /// SHA-256 of the certificate, for people to compare.
  let fingerprint: CertificateFingerprint

  /// From the files that the user names.
  init(certificate path: String, key keyPath: String) throws(CastFailure) {
    let chain = try WholeFile.read(path, limit: 1 << 20, what: "The certificate")
    let key = try WholeFile.readSecret(keyPath, limit: 1 << 20, what: "The key")
    let parsed: WebCertificate
    do throws(OpenSSLError) { parsed = try WebCertificate(parsing: chain) } catch {
      throw CastFailure(
        .noInput, "\(path) is not a certificate in PEM; it must begin with -----BEGIN CERTIFICATE-----.")
    }
    self.init(parsed, key, isVouchedFor: true)
  }

  private init(_ certificate: WebCertificate, _ key: [UInt8], isVouchedFor: Bool = false) {
    identity = TLSIdentity(certificates: certificate.certificate, privateKey: key, isVouchedFor: isVouchedFor)
    fingerprint = certificate.fingerprint
  }

  /// The certificate of an earlier start, or a new one if there is none or it has expired.
  static func kept(addresses: [String]) throws(CastFailure) -> ServeCertificate {
    let folder = try StateFolder.make()
    let certificatePath = folder + "/serve-certificate.pem"
    let keyPath = folder + "/serve-key.pem"
    if WholeFile.exists(certificatePath), WholeFile.exists(keyPath) {
      let pem = try WholeFile.read(certificatePath, limit: 1 << 20, what: "The certificate")
      let key = try WholeFile.read(keyPath, limit: 1 << 20, what: "The key")
      if let certificate = try? WebCertificate(parsing: pem), certificate.isValid {
        chmod(keyPath, 0o600)
        return ServeCertificate(certificate, key)
      }
    }
    let made: WebCertificate
    do throws(OpenSSLError) {
      made = try WebCertificate(names: ["localhost", hostName], addresses: addresses)
    } catch {
      throw CastFailure(.software, "No certificate can be made: \(error).")
    }
    let key = made.privateKey ?? []
    // The key first: a certificate beside another's key would be taken for the kept one.
    try WholeFile.writeSecretly(key, to: keyPath)
    try WholeFile.writeSecretly(made.certificate, to: certificatePath)
    return ServeCertificate(made, key)
  }

  private static var hostName: String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let isThere = bytes.withUnsafeMutableBytes { gethostname($0.baseAddress!.assumingMemoryBound(to: CChar.self), 255) }
    return isThere == 0 ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : ""
  }
}
