import COpenSSL

/// The shared state of a client's or server's TLS connections: versions, cipher suites, certificates. TLS 1.2 or 1.3,
/// with `http/1.1` as application protocol (RFC 7301) unless a client wants none; every connection has a handshake of
/// its own.
///
/// `@unchecked Sendable`: all stored properties are set once in `init`; OpenSSL never changes the context after its
/// set-up here, locks its trust store, and counts references atomically, so any thread may open connections on it.
@safe package final class TLSContext: @unchecked Sendable {
  package enum TrustRoots: Hashable, Sendable {
    /// The certificates that this machine trusts.
    case system
    /// The certificates of a PEM file only.
    case file(String)
  }

  /// The protocol over TLS (RFC 7301).
  package enum ApplicationProtocol: Hashable, Sendable {
    /// `http/1.1`.
    case http
  }

  private enum Role { case client, server }

  private let context: OpaquePointer
  private let role: Role

  /// Makes the context of a client, which verifies a server's chain of certificates, its dates and its host.
  /// - Parameter applicationProtocol: the protocol to announce; nil: none.
  package init(
    trusting roots: TrustRoots, applicationProtocol: ApplicationProtocol? = .http
  ) throws(TLSConfigurationError) {
    role = .client
    unsafe context = try Self.make(TLS_client_method())
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    unsafe SSL_CTX_set_cert_verify_callback(context, evaluateServerCertificate, nil)
    if case .http = applicationProtocol {
      // 0 is success here.
      guard unsafe SSL_CTX_set_alpn_protos(context, httpProtocol, UInt32(httpProtocol.count)) == 0 else {
        throw .unavailable(.take())
      }
    }
    switch roots {
    case .system:
      guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else { throw .unavailable(.take()) }
    case .file(let path):
      guard unsafe SSL_CTX_load_verify_file(context, path) == 1 else {
        ERR_clear_error()
        throw .noTrustRoots(file: path)
      }
    }
  }

  /// Makes the context of a server, which requests no client certificate.
  /// - Parameters:
  ///   - certificates: PEM; the server's own first, then its chain.
  ///   - privateKey: PEM without a passphrase; of the first certificate.
  package init(certificates: [UInt8], privateKey: [UInt8]) throws(TLSConfigurationError) {
    role = .server
    unsafe context = try Self.make(TLS_server_method())
    unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
    try useChain(certificates)
    let key = try unsafe Self.parseKey(privateKey)
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1 else {
      ERR_clear_error()
      throw .keyOfAnotherCertificate
    }
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// A new connection object, for the caller to free.
  func makeConnection() throws(TLSConfigurationError) -> OpaquePointer {
    guard let connection = unsafe SSL_new(context) else { throw .unavailable(.take()) }
    switch role {
    case .client: unsafe SSL_set_connect_state(connection)
    case .server: unsafe SSL_set_accept_state(connection)
    }
    return unsafe connection
  }

  // MARK: The parts

  private static func make(_ method: OpaquePointer?) throws(TLSConfigurationError) -> OpaquePointer {
    guard let context = unsafe SSL_CTX_new(method) else { throw .unavailable(.take()) }
    guard unsafe copenssl_configure_tls(context) == 1 else {
      unsafe SSL_CTX_free(context)
      throw .unavailable(.take())
    }
    return unsafe context
  }

  private func useChain(_ pem: [UInt8]) throws(TLSConfigurationError) {
    guard let source = unsafe Self.readable(pem) else { throw .noCertificate }
    defer { unsafe BIO_free(source) }
    var count = 0
    while let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
      defer { unsafe X509_free(certificate) }
      let isTaken =
        unsafe count == 0
        ? SSL_CTX_use_certificate(context, certificate) == 1 : copenssl_add_chain_certificate(context, certificate) == 1
      guard isTaken else {
        ERR_clear_error()
        throw .weakCertificate
      }
      count += 1
    }
    // The end of the text is an error to OpenSSL; so is a certificate that cannot be read.
    let isEnd =
      ERR_GET_LIB(ERR_peek_last_error()) == CInt(ERR_LIB_PEM)
      && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    ERR_clear_error()
    guard count > 0, isEnd else { throw .noCertificate }
  }

  private static func parseKey(_ pem: [UInt8]) throws(TLSConfigurationError) -> OpaquePointer {
    guard let source = unsafe readable(pem) else { throw .noPrivateKey }
    defer { unsafe BIO_free(source) }
    guard let key = unsafe PEM_read_bio_PrivateKey(source, nil, refusePassphrase, nil) else {
      ERR_clear_error()
      throw .noPrivateKey
    }
    return unsafe key
  }

  private static func readable(_ bytes: [UInt8]) -> OpaquePointer? {
    guard let source = unsafe BIO_new(BIO_s_mem()) else { return nil }
    guard unsafe BIO_write(source, bytes, CInt(clamping: bytes.count)) == bytes.count else {
      unsafe BIO_free(source)
      return nil
    }
    return unsafe source
  }
}

/// One protocol, its length in front.
private let httpProtocol = [8] + Array("http/1.1".utf8)

/// `http/1.1` where the client offers it; one that offers others alone is refused (RFC 7301 §3.2).
private func selectProtocol(
  _: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ selectedCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
  _: UnsafeMutableRawPointer?
) -> CInt {
  let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredCount))
  var start = 0
  while start < list.count {
    let end = start + 1 + Int(unsafe list[start])
    guard end <= list.count else { break }
    if unsafe list[start..<end].elementsEqual(httpProtocol) {
      // The answer must outlive this call: it is the client's own text, as OpenSSL's manual permits.
      unsafe selected?.pointee = unsafe offered.map { unsafe $0 + start + 1 }
      unsafe selectedCount?.pointee = UInt8(end - start - 1)
      return SSL_TLSEXT_ERR_OK
    }
    start = end
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Instead of OpenSSL's own, which asks at the terminal.
private func refusePassphrase(
  _: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt, _: UnsafeMutableRawPointer?
) -> CInt { -1 }
