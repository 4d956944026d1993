import COpenSSL
import RTCPrimitives

/// The owner of one OpenSSL connection: bytes in, bytes out, no time and no policy. Owned by one thread.
@safe final class DTLSSession {
  /// The result of one call into OpenSSL.
  enum Outcome {
    /// The handshake is complete.
    case done
    /// The first `count` bytes of `scratch` are one message of application data.
    case data(count: Int)
    /// Another datagram or the deadline is needed.
    case wantsInput
    case closedByPeer
    case failed(DTLSFailure)
  }

  /// The fingerprints of the remote description; nil until it is known. A certificate that matches none of them ends
  /// the handshake.
  var expectedFingerprints: [CertificateFingerprint]?
  /// The first wait before a flight is sent again; doubles up to `longestInterval`. RFC 6347 §4.2.4.1 proposes one
  /// second, which a loss on a 20 ms path would make the viewer wait for.
  private static let firstInterval = TimeDelta.milliseconds(50)
  private static let longestInterval = TimeDelta.milliseconds(3000)

  private let ssl: OpaquePointer
  private var inbound: [UInt8] = []
  private var outbound: [UInt8] = []
  private var outboundCounts: [Int] = []
  private(set) var scratch: [UInt8] = []
  /// OpenSSL's timer, inside `ssl`; nil where the library that was loaded keeps it to itself. See the shim.
  private var ownTimer: UnsafeMutableRawPointer?
  /// Whether the loaded library, which may be newer than the headers, announces its own timer.
  private static let announcesOwnTimer = copenssl_announces_own_timer(OpenSSL_version_num()) == 1
  private var timer = Timer.stopped
  private var interval = DTLSSession.firstInterval

  private enum Timer {
    case stopped
    /// Started by the last call into OpenSSL, which knows no caller's clock: the next `deadline` dates it.
    case started
    case running(until: Timestamp)
  }

  init(
    role: DTLSRole, certificate: DTLSCertificate, srtpProfiles: [SRTPProfile], maximumDatagramSize: Int
  ) throws(OpenSSLError) {
    unsafe ssl = try certificate.makeConnection()
    // From here on deinit frees it.
    let bio = try unsafe DatagramBIO.make(for: self)
    unsafe SSL_set_bio(ssl, bio, bio)
    unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    unsafe copenssl_set_timer(ssl)
    unsafe copenssl_set_mtu(ssl, maximumDatagramSize)
    let names = srtpProfiles.map(\.openSSLName).joined(separator: ":")
    guard unsafe SSL_set_tlsext_use_srtp(ssl, names) == 0 else { throw .take() }  // 0 is success here
    switch role {
    case .client: unsafe SSL_set_connect_state(ssl)
    case .server: unsafe SSL_set_accept_state(ssl)
    }
  }

  deinit { unsafe SSL_free(ssl) }

  // MARK: Calls into OpenSSL

  /// Sets the datagram that the next calls read.
  func accept(_ datagram: Span<UInt8>) {
    inbound.removeAll(keepingCapacity: true)
    inbound.append(datagram)
  }

  func handshake() -> Outcome {
    prepare()
    let result = unsafe SSL_do_handshake(ssl)
    return result == 1 ? .done : outcome(of: result)
  }

  /// Reads the next message of application data into `scratch`.
  func readMessage() -> Outcome {
    prepare()
    let capacity = max(inbound.count, DatagramBatch.maximumDatagramSize)
    if scratch.count < capacity { scratch = [UInt8](repeating: 0, count: capacity) }
    let result = unsafe scratch.withUnsafeMutableBytes { room in
      unsafe SSL_read(ssl, room.baseAddress, CInt(room.count))
    }
    return result > 0 ? .data(count: Int(result)) : outcome(of: result)
  }

  func write(_ message: Span<UInt8>) -> Outcome {
    prepare()
    let result = unsafe message.withUnsafeBytes { unsafe SSL_write(ssl, $0.baseAddress, CInt($0.count)) }
    return result > 0 ? .done : outcome(of: result)
  }

  /// Says goodbye with a close_notify alert.
  func shutdown() {
    prepare()
    _ = unsafe SSL_shutdown(ssl)
    ERR_clear_error()
  }

  /// Sends the last flight again, after twice the wait.
  func retransmit() -> Outcome {
    prepare()
    interval = min(interval * 2, Self.longestInterval)
    timer = .started
    if let ownTimer = unsafe ownTimer { unsafe copenssl_expire_timer(ownTimer) }
    let result = unsafe copenssl_handle_timeout(ssl)
    return result < 0 ? outcome(of: result) : .wantsInput
  }

  /// Gives back the record buffers (two of 17 kB) that OpenSSL would keep; `prepare` makes new ones.
  func releaseBuffers() {
    _ = unsafe SSL_free_buffers(ssl)
    inbound = []
    outbound = []
    outboundCounts = []
  }

  /// Moves the datagrams written since the last call to `batch`.
  func drain(to route: Route, into batch: inout DatagramBatch) {
    var offset = 0
    for count in outboundCounts {
      batch.append(outbound.span.extracting(offset..<offset + count), to: route)
      offset += count
    }
    outbound.removeAll(keepingCapacity: true)
    outboundCounts.removeAll(keepingCapacity: true)
  }

  /// When the last flight must be sent again; `distantFuture` while none is waiting for its answer.
  func deadline(now: Timestamp) -> Timestamp {
    switch timer {
    case .stopped: return .distantFuture
    case .running(let moment): return moment
    case .started:
      let moment = now + interval
      timer = .running(until: moment)
      return moment
    }
  }

  // MARK: Results of the handshake

  /// By SHA-256, of the certificate that the peer has shown; nil before.
  var peerFingerprint: CertificateFingerprint? {
    guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return nil }
    return unsafe CertificateFingerprint(certificate: certificate)
  }

  /// The peer showed a certificate that is expected.
  var acceptsPeer: Bool { unsafe accepts(SSL_get0_peer_certificate(ssl)) }

  var selectedProfile: SRTPProfile? {
    guard let profile = unsafe SSL_get_selected_srtp_profile(ssl) else { return nil }
    return unsafe SRTPProfile(rawValue: UInt16(truncatingIfNeeded: profile.pointee.id))
  }

  /// RFC 5705 exported keying material, nil before the handshake is complete.
  func exportKeyingMaterial(label: String, count: Int) -> [UInt8]? {
    var material = [UInt8](repeating: 0, count: count)
    let result = unsafe SSL_export_keying_material(ssl, &material, count, label, label.utf8.count, nil, 0, 0)
    return result == 1 ? material : nil
  }

  // MARK: Calls from OpenSSL, by way of the thunks

  /// Copies the datagram once; 0 if there is none.
  func takeInbound(_ room: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(inbound.count, room.count)
    unsafe inbound.withUnsafeBytes { bytes in
      unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
    inbound.removeAll(keepingCapacity: true)
    return count
  }

  func putOutbound(_ datagram: UnsafeRawBufferPointer) {
    unsafe outbound.append(contentsOf: datagram)
    outboundCounts.append(datagram.count)
  }

  /// OpenSSL started or stopped its timer. A stop means that the peer has answered, so the next flight starts afresh.
  func timerAnnounced(_ pointer: UnsafeMutableRawPointer) {
    // Anything else is a copy on the caller's stack.
    if Self.announcesOwnTimer { unsafe ownTimer = pointer }
    if unsafe copenssl_timer_is_running(pointer) == 1 {
      timer = .started
    } else {
      timer = .stopped
      interval = Self.firstInterval
    }
  }

  /// - Parameter certificate: an `X509`.
  func accepts(_ certificate: OpaquePointer?) -> Bool {
    guard let expectedFingerprints else { return true }  // judged when they are known, before anything is connected
    guard let certificate = unsafe certificate else { return false }
    return expectedFingerprints.contains { unsafe CertificateFingerprint(certificate: certificate, like: $0) == $0 }
  }

  /// To precede every call that may read or write: `SSL_get_error` looks at the thread's error queue, and OpenSSL's DTLS
  /// writes through a null pointer after `SSL_free_buffers` unless the buffers are asked for again.
  private func prepare() {
    ERR_clear_error()
    precondition(unsafe SSL_alloc_buffers(ssl) == 1, "DTLSSession: no memory for record buffers")
  }

  private func outcome(of result: CInt) -> Outcome {
    switch unsafe SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsInput
    case SSL_ERROR_ZERO_RETURN: return .closedByPeer
    default: return .failed(DTLSFailure(.take()))
    }
  }
}

/// Any certificate is good whose fingerprint was signalled (RFC 8827 §6.5); chains, names and dates say nothing here.
func evaluatePeerCertificate(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> CInt {
  let ssl = unsafe OpaquePointer(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()))
  let session = unsafe Unmanaged<DTLSSession>.fromOpaque(SSL_get_ex_data(ssl, 0)).takeUnretainedValue()
  let accepted = unsafe session.accepts(X509_STORE_CTX_get0_cert(store))
  unsafe X509_STORE_CTX_set_error(store, accepted ? X509_V_OK : X509_V_ERR_CERT_REJECTED)
  return accepted ? 1 : 0
}

extension SRTPProfile {
  /// OpenSSL's name for it.
  fileprivate var openSSLName: String {
    switch self {
    case .aes128CmSha1_80: "SRTP_AES128_CM_SHA1_80"
    case .aeadAes128Gcm: "SRTP_AEAD_AES_128_GCM"
    }
  }
}
