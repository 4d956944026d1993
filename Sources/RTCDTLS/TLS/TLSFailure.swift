import COpenSSL

/// Why a TLS connection failed. All of these are the remote side's or the network's doing.
package enum TLSFailure: Error, Hashable, Sendable {
  /// The server's certificate is not to be trusted, or not for the host that was asked for.
  case certificate(CertificateFault)
  /// The received bytes are not TLS: most likely the server speaks plain text there.
  case notTLS
  /// The remote side refused, with this alert (RFC 8446 §6.2).
  case alert(UInt8)
  /// The connection ended before the handshake was complete.
  case endedInHandshake
  /// The connection ended without a close_notify alert: an attacker may have cut it off (RFC 8446 §6.1).
  case truncated
  /// The remote side broke the protocol, or shares no version or cipher suite with us.
  case protocolViolation(OpenSSLError)

  package enum CertificateFault: Hashable, Sendable {
    /// No chain of certificates leads to one that is trusted here.
    case untrusted
    /// For other hosts than the one asked for (RFC 9525).
    case wrongHost
    case expired
    case notYetValid
    /// The application's own verifier refused it.
    case refused
    /// Another fault; OpenSSL's words.
    case unusable(String)
  }

  /// - Parameter verification: one of OpenSSL's `X509_V_…` numbers, the result of verifying the certificate.
  init(_ error: OpenSSLError, verification: CInt) {
    switch error.tlsReason {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: self = .certificate(CertificateFault(verification))
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
      self = .notTLS
    case let reason? where reason >= SSL_AD_REASON_OFFSET:
      self = .alert(UInt8(truncatingIfNeeded: reason - SSL_AD_REASON_OFFSET))
    default: self = .protocolViolation(error)
    }
  }
}

extension TLSFailure.CertificateFault {
  fileprivate init(_ verification: CInt) {
    switch verification {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
      X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
      self = .untrusted
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongHost
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
    case X509_V_ERR_APPLICATION_VERIFICATION: self = .refused
    default: self = .unusable(unsafe String(cString: X509_verify_cert_error_string(Int(verification))))
    }
  }
}

/// Why TLS cannot be set up as the caller wants it.
package enum TLSConfigurationError: Error, Hashable, Sendable {
  /// There is no certificate in PEM.
  case noCertificate
  /// No key in PEM without a passphrase.
  case noPrivateKey
  case keyOfAnotherCertificate
  /// Too weak to be shown: an RSA key of less than 2,048 bits, or a signature by SHA-1.
  case weakCertificate
  /// The file with the certificates to trust cannot be read, or has none.
  case noTrustRoots(file: String)
  /// The host's name cannot stand in a certificate.
  case badHost(String)
  /// Out of memory, or a defect of OpenSSL's configuration.
  case unavailable(OpenSSLError)
}
