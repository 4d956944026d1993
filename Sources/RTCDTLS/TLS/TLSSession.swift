import COpenSSL

/// The host of a client's connection: the name that the server's certificate must have (RFC 9525), and that the server
/// gets to choose its certificate (SNI, RFC 6066 §3).
package enum TLSHost: Hashable, Sendable {
  case name(String)
  /// An IPv4 or IPv6 address, without brackets.
  case address(String)
}

/// The result of a step of a `TLSSession`.
package enum TLSEvent: Hashable, Sendable {
  /// The handshake is complete; a client has checked the server's certificate.
  case connected
  /// Some application data: a part of a stream, 16 KiB at most.
  case data([UInt8])
  /// The remote side said goodbye (close_notify); nothing more will come.
  case closedByPeer
  /// The session is unusable. Its output has the alert for the remote side.
  case failed(TLSFailure)
}

/// One TLS connection (RFC 8446, RFC 5246), sans-IO: takes records of the remote side, returns records for it, and uses
/// no time. Holds at most one incomplete record, and the output that was not taken yet. Owned by one thread.
@safe package final class TLSSession {
  private enum State {
    case handshaking
    case connected
    /// We have said goodbye, the remote side has not.
    case receiving
    /// Closed by the remote side or by both, or failed.
    case ended
  }

  private let ssl: OpaquePointer
  private var state = State.handshaking
  private let verifier: (([UInt8]) -> Bool)?

  /// A client's end.
  /// - Parameter verifier: takes the server's certificate (DER) and decides alone, in place of trust roots and host.
  package init(
    _ context: TLSContext, to host: TLSHost, verifier: (([UInt8]) -> Bool)? = nil
  ) throws(TLSConfigurationError) {
    self.verifier = verifier
    unsafe ssl = try context.makeConnection()
    try useMemory()
    try expect(host)
    unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
  }

  /// A server's end.
  package init(_ context: TLSContext) throws(TLSConfigurationError) {
    verifier = nil
    unsafe ssl = try context.makeConnection()
    try useMemory()
  }

  deinit { unsafe SSL_free(ssl) }

  // MARK: Steps

  /// Whether `send` may be called.
  package var isConnected: Bool { if case .connected = state { true } else { false } }

  /// Makes a client's first message; a server waits for it and does nothing.
  package func start() -> [TLSEvent] { advance() }

  /// Takes received bytes: any part of any number of records.
  package func receive(_ bytes: Span<UInt8>) -> [TLSEvent] {
    if case .ended = state { return [] }
    ERR_clear_error()
    let taken = unsafe bytes.withUnsafeBytes { unsafe BIO_write(SSL_get_rbio(ssl), $0.baseAddress, CInt($0.count)) }
    precondition(Int(taken) == bytes.count || bytes.isEmpty, "TLSSession: no memory for records")
    return advance()
  }

  /// The connection below has ended: a failure unless one of the two said goodbye before.
  package func endOfInput() -> [TLSEvent] {
    defer { state = .ended }
    switch state {
    case .handshaking: return [.failed(.endedInHandshake)]
    case .connected, .receiving: return [.failed(.truncated)]
    case .ended: return []
    }
  }

  /// Makes records of application data.
  package func send(_ bytes: Span<UInt8>) {
    precondition(isConnected, "TLSSession: not connected")
    guard !bytes.isEmpty else { return }
    ERR_clear_error()
    var count = 0
    let result = unsafe bytes.withUnsafeBytes { unsafe SSL_write_ex(ssl, $0.baseAddress, $0.count, &count) }
    precondition(result == 1 && count == bytes.count, "TLSSession: no memory for records")
  }

  /// Sends close_notify if connected. The remote side's is not awaited, since its messages have lengths of their own.
  package func close() {
    closeOutput()
    state = .ended
  }

  /// Sends close_notify and continues to receive.
  package func closeOutput() {
    guard case .connected = state else { return }
    ERR_clear_error()
    _ = unsafe SSL_shutdown(ssl)
    ERR_clear_error()
    state = .receiving
  }

  /// The records for the remote side that were made since the last call.
  package func takeOutput() -> [UInt8] {
    let output = unsafe SSL_get_wbio(ssl)
    let waiting = unsafe BIO_ctrl_pending(output)
    guard waiting > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: waiting) { room, count in
      unsafe count = Int(max(0, BIO_read(output, room.baseAddress, CInt(room.count))))
    }
  }

  // MARK: Procedures

  private func advance() -> [TLSEvent] {
    var events: [TLSEvent] = []
    if case .handshaking = state { shakeHands(&events) }
    readData(&events)
    return events
  }

  private func shakeHands(_ events: inout [TLSEvent]) {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      state = .connected
      events.append(.connected)
    } else {
      handle(result, &events)
    }
  }

  private func readData(_ events: inout [TLSEvent]) {
    while true {
      switch state {
      case .handshaking, .ended: return
      case .connected, .receiving: break
      }
      ERR_clear_error()
      var result: CInt = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.maximumRecordSize) { room, count in
        unsafe result = SSL_read_ex(ssl, room.baseAddress, room.count, &count)
        if result != 1 { count = 0 }
      }
      guard result == 1 else { return handle(result, &events) }
      events.append(.data(bytes))
    }
  }

  /// Handles OpenSSL's `result` of a step that it did not complete.
  private func handle(_ result: CInt, _ events: inout [TLSEvent]) {
    switch unsafe SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
    case SSL_ERROR_ZERO_RETURN:
      if case .handshaking = state {
        events.append(.failed(.endedInHandshake))
      } else {
        events.append(.closedByPeer)
      }
      close()
    default:
      state = .ended
      let verification = unsafe SSL_get_verify_result(ssl)
      events.append(.failed(TLSFailure(.takeLast(), verification: CInt(truncatingIfNeeded: verification))))
    }
  }

  // MARK: Parts

  /// RFC 8446 §5.1.
  private static let maximumRecordSize = 16_384

  private func useMemory() throws(TLSConfigurationError) {
    guard let input = unsafe BIO_new(BIO_s_mem()) else { throw .unavailable(.take()) }
    guard let output = unsafe BIO_new(BIO_s_mem()) else {
      unsafe BIO_free(input)
      throw .unavailable(.take())
    }
    // The connection owns and frees both.
    unsafe SSL_set_bio(ssl, input, output)
  }

  private func expect(_ host: TLSHost) throws(TLSConfigurationError) {
    let rules = unsafe SSL_get0_param(ssl)
    switch host {
    case .name(let written):
      // A fully qualified name's last dot is no part of certificates and SNI.
      let name = written.hasSuffix(".") ? String(written.dropLast()) : written
      // Names in the subject's common name do not count any more, nor do wildcards within a label (RFC 9525 §6.3).
      let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
      unsafe X509_VERIFY_PARAM_set_hostflags(rules, flags)
      guard !name.isEmpty, unsafe X509_VERIFY_PARAM_set1_host(rules, name, name.utf8.count) == 1,
        unsafe copenssl_set_server_name(ssl, name) == 1
      else {
        ERR_clear_error()
        throw .badHost(written)
      }
    case .address(let written):
      // The zone is this machine's affair.
      let address = String(written.prefix { $0 != "%" })
      guard unsafe X509_VERIFY_PARAM_set1_ip_asc(rules, address) == 1 else {
        ERR_clear_error()
        throw .badHost(written)
      }
    }
  }

  /// The application's decision; nil: it leaves that to the trust roots.
  fileprivate func decision(on certificate: OpaquePointer?) -> Bool? {
    guard let verifier else { return nil }
    let count = unsafe i2d_X509(certificate, nil)
    guard count > 0 else { return false }
    let der = unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { room, written in
      var end = room.baseAddress
      unsafe written = Int(max(0, i2d_X509(certificate, &end)))
    }
    return verifier(der)
  }
}

/// Judges a server's certificate: 1 when it is good.
func evaluateServerCertificate(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> CInt {
  let ssl = unsafe OpaquePointer(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()))
  let session = unsafe Unmanaged<TLSSession>.fromOpaque(SSL_get_ex_data(ssl, 0)).takeUnretainedValue()
  guard let decision = unsafe session.decision(on: X509_STORE_CTX_get0_cert(store)) else {
    return unsafe X509_verify_cert(store)
  }
  unsafe X509_STORE_CTX_set_error(store, decision ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION)
  return decision ? 1 : 0
}
