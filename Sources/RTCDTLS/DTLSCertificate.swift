import COpenSSL
public import RTCPrimitives

/// A self-signed ECDSA P-256 certificate made in this process, and the TLS settings shared by every transport that
/// shows it (RFC 8827 §6.5). Valid from yesterday for 31 days, with a random name that says nothing about its owner.
///
/// `@unchecked Sendable`: all stored properties are set once in `init`; OpenSSL never changes the context after its
/// set-up here, and counts references to it atomically, so any thread may open transports on it.
@safe public final class DTLSCertificate: @unchecked Sendable {
  /// The certificate's SHA-256 digest, as it goes into `a=fingerprint` (RFC 8122 §5).
  public let fingerprint: CertificateFingerprint
  private let context: OpaquePointer

  /// Makes a new key and certificate: about 0.1 ms of work.
  public init() throws(OpenSSLError) {
    guard let key = unsafe copenssl_generate_p256_key() else { throw .take() }
    defer { unsafe EVP_PKEY_free(key) }
    let certificate = try unsafe Self.selfSigned(key)
    defer { unsafe X509_free(certificate) }
    guard let fingerprint = unsafe CertificateFingerprint(certificate: certificate) else { throw .take() }
    self.fingerprint = fingerprint
    unsafe context = try Self.makeContext(certificate, key)
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// A new TLS connection object, for the caller to free.
  func makeConnection() throws(OpenSSLError) -> OpaquePointer {
    guard let connection = unsafe SSL_new(context) else { throw .take() }
    return unsafe connection
  }

  private static func selfSigned(_ key: OpaquePointer) throws(OpenSSLError) -> OpaquePointer {
    var random = [UInt8](repeating: 0, count: 16)
    guard unsafe RAND_bytes(&random, 16) == 1, let certificate = unsafe X509_new() else { throw .take() }
    let serial = random[0..<8].reduce(0) { $0 << 8 | UInt64($1) } >> 1 | 1
    let name = random[8...].map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    let day = 24 * 60 * 60
    let subject = unsafe X509_get_subject_name(certificate)
    let complete =
      unsafe X509_set_version(certificate, 2) == 1  // counted from 0: X.509 version 3
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil
      && X509_gmtime_adj(X509_getm_notAfter(certificate), 30 * day) != nil
      && X509_NAME_add_entry_by_txt(subject, "CN", 0x1001, name, -1, -1, 0) == 1  // 0x1001: MBSTRING_ASC
      && X509_set_issuer_name(certificate, subject) == 1
      && X509_set_pubkey(certificate, key) == 1
      && X509_sign(certificate, key, EVP_sha256()) > 0
    guard complete else {
      unsafe X509_free(certificate)
      throw .take()
    }
    return unsafe certificate
  }

  private static func makeContext(
    _ certificate: OpaquePointer, _ key: OpaquePointer
  ) throws(OpenSSLError) -> OpaquePointer {
    guard let context = unsafe SSL_CTX_new(DTLS_method()) else { throw .take() }
    unsafe copenssl_full_handshakes_only(context)
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    unsafe SSL_CTX_set_cert_verify_callback(context, evaluatePeerCertificate, nil)
    let complete =
      unsafe copenssl_only_dtls12(context) == 1
      && SSL_CTX_set_cipher_list(context, cipherSuites) == 1
      && copenssl_set_groups(context, "X25519:P-256") == 1
      && SSL_CTX_use_certificate(context, certificate) == 1
      && SSL_CTX_use_PrivateKey(context, key) == 1
    guard complete else {
      unsafe SSL_CTX_free(context)
      throw .take()
    }
    return unsafe context
  }
}

/// Forward secrecy and AEAD only. Our own certificate takes the ECDSA suites (the first is RFC 8827's mandatory one);
/// the RSA ones are for clients of ours whose server has an RSA certificate.
private let cipherSuites = """
  ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:\
  ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305
  """

extension CertificateFingerprint {
  /// The digest of `certificate`, an `X509`.
  init?(certificate: OpaquePointer) {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard unsafe X509_digest(certificate, EVP_sha256(), &digest, &count) == 1 else { return nil }
    self.init(sha256: digest)
  }

  /// The digest of `certificate`, an `X509`, by the same hash function as `other`; nil for one that is not known here.
  init?(certificate: OpaquePointer, like other: CertificateFingerprint) {
    let function =
      switch other.algorithm {
      case "sha-384": unsafe EVP_sha384()
      case "sha-512": unsafe EVP_sha512()
      default: unsafe EVP_sha256()
      }
    guard other.isCheckable else { return nil }
    var digest = [UInt8](repeating: 0, count: other.bytes.count)
    var count: UInt32 = 0
    guard unsafe X509_digest(certificate, function, &digest, &count) == 1 else { return nil }
    self.init(algorithm: other.algorithm, bytes: digest)
  }

  /// The hash functions for comparing certificates (RFC 8122 §5), in order of preference, and the lengths of their
  /// digests.
  private static let functions = [("sha-256", 32), ("sha-512", 64), ("sha-384", 48)]

  /// A certificate can be compared with it.
  package var isCheckable: Bool { Self.functions.contains { $0 == (algorithm, bytes.count) } }

  /// The fingerprints of `all` to compare a certificate with: those of one hash function (RFC 8122 §5); empty if none
  /// is known.
  package static func checkable(among all: [CertificateFingerprint]) -> [CertificateFingerprint] {
    functions.lazy.map { function in all.filter { ($0.algorithm, $0.bytes.count) == function } }.first { !$0.isEmpty }
      ?? []
  }
}
