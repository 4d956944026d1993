package import RTCPrimitives

/// One DTLS 1.2 association (RFC 6347) that yields SRTP keys (RFC 5764) and then carries application data.
///
/// Sans-IO: datagrams and the time come in as arguments, datagrams leave through the batch. The peer counts as connected
/// only when its certificate's fingerprint is one of the expected ones. Owned by one thread.
package struct DTLSTransport: ~Copyable {
  /// AEAD_AES_128_GCM first: six times cheaper per packet than AES_CM_128_HMAC_SHA1_80.
  package static let preferredSRTPProfiles: [SRTPProfile] = [.aeadAes128Gcm, .aes128CmSha1_80]
  /// Fits the IPv6 minimum MTU of 1280 with IP, UDP and TURN headers.
  package static let defaultMaximumDatagramSize = 1200
  /// The overhead of a record: its header, the explicit nonce and the tag.
  private static let recordOverhead = 13 + 8 + 16

  /// When `deadlineReached` must be called; `distantFuture` when nothing is awaited.
  package private(set) var nextDeadline = Timestamp.distantFuture
  /// The longest message `send` takes.
  package let maximumMessageSize: Int
  /// The fingerprint of the peer's certificate; nil before it was received.
  package var peerFingerprint: CertificateFingerprint? { session.peerFingerprint }
  private let session: DTLSSession
  private let role: DTLSRole
  private var state = State.handshaking

  private enum State {
    case handshaking
    /// The handshake is complete; the expected fingerprints are not known yet.
    case awaitingFingerprints
    case connected
    /// Closed by either side, or failed.
    case ended
  }

  /// - Parameters:
  ///   - expectedFingerprints: nil when the remote description has not arrived; see `expect`.
  ///   - srtpProfiles: in order of preference. As server the first that the client offers is chosen.
  ///   - maximumDatagramSize: in bytes of UDP payload, at least 256.
  /// - Throws: only when OpenSSL has no memory or the profiles are empty.
  package init(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprints: [CertificateFingerprint]? = nil,
    srtpProfiles: [SRTPProfile] = preferredSRTPProfiles, maximumDatagramSize: Int = defaultMaximumDatagramSize
  ) throws(OpenSSLError) {
    precondition(
      (256...DatagramBatch.maximumDatagramSize).contains(maximumDatagramSize),
      "DTLSTransport: datagrams must be of 256 bytes at least, and fit a DatagramBatch")
    self.role = role
    maximumMessageSize = maximumDatagramSize - Self.recordOverhead
    session = try DTLSSession(
      role: role, certificate: certificate, srtpProfiles: srtpProfiles, maximumDatagramSize: maximumDatagramSize)
    session.expectedFingerprints = expectedFingerprints
  }

  /// Sends the client's first message, once the path is there; a server waits for it and does nothing.
  @discardableResult
  package mutating func start(now: Timestamp, route: Route, into batch: inout DatagramBatch) -> [DTLSEvent] {
    guard case .handshaking = state, role == .client else { return [] }
    return advance(now, route, &batch)
  }

  /// Takes one datagram of the peer (first byte 20…63, RFC 7983). Datagrams that are not DTLS, or not of this
  /// association, are ignored.
  package mutating func receive(
    _ datagram: Span<UInt8>, route: Route, now: Timestamp, into batch: inout DatagramBatch
  ) -> [DTLSEvent] {
    if case .ended = state { return [] }
    session.accept(datagram)
    return advance(now, route, &batch)
  }

  /// Sends the last flight again when `nextDeadline` has come; does nothing before.
  package mutating func deadlineReached(
    now: Timestamp, route: Route, into batch: inout DatagramBatch
  ) -> [DTLSEvent] {
    guard case .handshaking = state, now >= nextDeadline else { return [] }
    var events: [DTLSEvent] = []
    if case .failed(let failure) = session.retransmit() { end(.failed(failure), &events) }
    finishStep(now, route, &batch)
    return events
  }

  /// Says which certificates the peer may show, when the remote description came after `init`.
  package mutating func expect(
    _ fingerprints: [CertificateFingerprint], now: Timestamp, route: Route, into batch: inout DatagramBatch
  ) -> [DTLSEvent] {
    session.expectedFingerprints = fingerprints
    guard case .awaitingFingerprints = state else { return [] }
    return advance(now, route, &batch)
  }

  /// Sends one message of application data, in one datagram.
  package mutating func send(
    _ message: Span<UInt8>, route: Route, into batch: inout DatagramBatch
  ) throws(DTLSSendError) {
    guard case .connected = state else { throw .notConnected }
    guard message.count <= maximumMessageSize else { throw .tooLong }
    guard !message.isEmpty else { return }
    _ = session.write(message)  // writing to memory neither blocks nor fails
    session.drain(to: route, into: &batch)
    session.releaseBuffers()
  }

  /// Says goodbye to the peer (close_notify) when it is connected; the transport is of no use afterwards.
  package mutating func close(route: Route, into batch: inout DatagramBatch) {
    switch state {
    case .ended: return
    case .handshaking: break  // TLS has no goodbye before Finished
    case .awaitingFingerprints, .connected: session.shutdown()
    }
    state = .ended
    finishStep(.zero, route, &batch)
  }

  // MARK: Procedures

  private mutating func advance(_ now: Timestamp, _ route: Route, _ batch: inout DatagramBatch) -> [DTLSEvent] {
    var events: [DTLSEvent] = []
    if case .handshaking = state { shakeHands(&events) }
    if case .awaitingFingerprints = state { evaluatePeer(&events) }
    readMessages(&events)
    finishStep(now, route, &batch)
    return events
  }

  private mutating func shakeHands(_ events: inout [DTLSEvent]) {
    switch session.handshake() {
    case .done: state = .awaitingFingerprints
    case .wantsInput, .data: break
    case .closedByPeer: end(.closedByPeer, &events)
    case .failed(let failure): end(.failed(failure), &events)
    }
  }

  private mutating func evaluatePeer(_ events: inout [DTLSEvent]) {
    guard session.expectedFingerprints != nil else { return }
    guard session.acceptsPeer else { return refuse(.fingerprintMismatch, &events) }
    guard let keys = srtpKeys() else { return refuse(.noCommonSRTPProfile, &events) }
    state = .connected
    events.append(.connected(keys))
  }

  /// Application data before the peer is authenticated is read, so that OpenSSL processes the rest of the datagram (a
  /// repeated Finished must be answered), and dropped.
  private mutating func readMessages(_ events: inout [DTLSEvent]) {
    while true {
      switch state {
      case .handshaking, .ended: return
      case .awaitingFingerprints, .connected: break
      }
      switch session.readMessage() {
      case .data(let count):
        if case .connected = state { events.append(.data(Array(session.scratch[..<count]))) }
      case .wantsInput, .done: return
      case .closedByPeer:
        session.shutdown()
        end(.closedByPeer, &events)
      case .failed(let failure): end(.failed(failure), &events)
      }
    }
  }

  private mutating func refuse(_ failure: DTLSFailure, _ events: inout [DTLSEvent]) {
    session.shutdown()
    end(.failed(failure), &events)
  }

  private mutating func end(_ event: DTLSEvent, _ events: inout [DTLSEvent]) {
    state = .ended
    events.append(event)
  }

  private mutating func finishStep(_ now: Timestamp, _ route: Route, _ batch: inout DatagramBatch) {
    session.drain(to: route, into: &batch)
    switch state {
    case .handshaking: nextDeadline = session.deadline(now: now)
    case .awaitingFingerprints, .connected, .ended:
      nextDeadline = .distantFuture
      session.releaseBuffers()
    }
  }

  /// RFC 5764 §4.2: client's key, server's key, client's salt, server's salt.
  private func srtpKeys() -> SRTPKeys? {
    guard let profile = session.selectedProfile else { return nil }
    let (key, salt) = (profile.keyLength, profile.saltLength)
    guard let bytes = session.exportKeyingMaterial(label: "EXTRACTOR-dtls_srtp", count: 2 * (key + salt)) else {
      return nil
    }
    let salts = bytes[(2 * key)...]
    let client = SRTPMasterKey(key: Array(bytes[..<key]), salt: Array(salts.prefix(salt)))
    let server = SRTPMasterKey(key: Array(bytes[key..<2 * key]), salt: Array(salts.suffix(salt)))
    return role == .client
      ? SRTPKeys(profile: profile, local: client, remote: server)
      : SRTPKeys(profile: profile, local: server, remote: client)
  }
}
