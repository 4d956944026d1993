import RTCDTLS
import Synchronization

/// The identity of an HTTPS server: a chain of certificates, its own first, and the key, both in PEM.
public struct TLSIdentity: Sendable, Equatable {
  /// PEM: the server's own certificate, then the chain to a trusted one.
  public var certificates: [UInt8]
  /// PEM: the key of the first certificate, not encrypted.
  public var privateKey: [UInt8]
  /// Whether browsers trust it by default: true except for self-signed certificates made here.
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

/// The certificate and key that a server shows now. Any thread.
final class CurrentTLS: Sendable {
  private let current: Mutex<TLSContext>

  init(_ context: TLSContext) { current = Mutex(context) }

  var context: TLSContext { current.withLock { $0 } }

  func replace(_ context: TLSContext) { current.withLock { $0 = context } }
}
