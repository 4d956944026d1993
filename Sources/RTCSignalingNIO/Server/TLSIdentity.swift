import RTCDTLS

/// What an HTTPS server shows: a chain of certificates, its own first, and the key of that one, both in PEM.
public struct TLSIdentity: Sendable, Equatable {
  /// PEM: the server's own certificate, then those that lead to a trusted one.
  public var certificates: [UInt8]
  /// PEM: the key of the first certificate, not encrypted.
  public var privateKey: [UInt8]
  /// Browsers trust it without being told to: others than those that were made here and vouch for themselves.
  public var isVouchedFor: Bool

  /// Bytes of PEM files; they are checked when the server starts, which throws `badCertificate`.
  public init(certificates: [UInt8], privateKey: [UInt8], isVouchedFor: Bool = false) {
    self.certificates = certificates
    self.privateKey = privateKey
    self.isVouchedFor = isVouchedFor
  }

  func context() throws(SignalingServerError) -> TLSContext {
    do { return try TLSContext(certificates: certificates, privateKey: privateKey) } catch {
      throw .badCertificate(Self.explain(error))
    }
  }

  private static func explain(_ error: TLSConfigurationError) -> String {
    switch error {
    case .noCertificate: "the certificate is not PEM (-----BEGIN CERTIFICATE-----)"
    case .noPrivateKey: "the key is not PEM without a passphrase (-----BEGIN PRIVATE KEY-----)"
    case .keyOfAnotherCertificate: "the key does not belong to the certificate"
    case .weakCertificate: "the certificate is too weak; an RSA key needs 2,048 bits, and the signature SHA-256"
    case .unavailable(let error): error.description
    case .noTrustRoots, .badHost: "\(error)"  // a client's
    }
  }
}
