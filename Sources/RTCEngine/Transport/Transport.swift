import RTCDTLS
package import RTCICE
package import RTCPrimitives
import RTCSRTP
package import RTCWire

/// The transport of a bundle: ICE finds the path, DTLS makes the keys, SRTP encrypts and decrypts media.
///
/// Sans-IO: takes datagrams and the time; leaves datagrams in a batch and events in a list. Owned by one thread.
package struct Transport: ~Copyable {
  /// An event of a step.
  package enum Event: Sendable {
    /// The handshake is done and the certificate is the signaled one: media may flow.
    case secured
    /// Nothing has arrived for some seconds.
    case disconnected
    /// Packets arrive again.
    case reconnected
    /// Everything goes another way than before.
    case routeChanged
    /// The remote peer is at a route, or probably is.
    case claimed(RouteClaim)
    /// How the way to the remote peer is, once there was one.
    case connectivityChanged(Connectivity)
    /// One message of application data in DTLS (SCTP).
    case data([UInt8])
    /// The transport is of no more use.
    case ended(EndReason)
  }

  /// The content of a datagram for other layers.
  package enum Content: Sendable {
    /// An RTP packet, decrypted in place; this many bytes of the datagram.
    case rtp(count: Int)
    /// A compound RTCP packet, decrypted in place; this many bytes of the datagram.
    case rtcp(count: Int)
  }

  /// The largest RTCP packet that is written.
  package static let maximumRTCPSize = 1_200
  /// The minimum interval at which authenticated traffic is reported to ICE.
  private static let authenticationInterval = TimeDelta.milliseconds(500)

  private static let maximumEarlyCandidates = 64

  private let certificate: DTLSCertificate
  /// The key code (`CertificateFingerprint.keyCode`); nil before the handshake is done.
  package private(set) var keyCode: String?
  private let connectTimeout: TimeDelta
  private let firstContactTimeout: TimeDelta?
  var ice: ICEAgent
  private var dtls: DTLSTransport?
  /// When DTLS sends its last flight again.
  private var handshakeDeadline = Timestamp.distantFuture
  private var earlyHandshake = EarlyHandshake()
  /// The SRTP session, made when the handshake is done and the fingerprint verified.
  private var srtp: SRTPSession?
  /// The profile that was agreed; stays after the end.
  private var profile: SRTPProfile?
  /// When connecting takes too long.
  private var connectDeadline = Timestamp.distantFuture
  /// The deadline after the remote peer's first packet; nil after that, or before connecting began.
  private var laterDeadline: Timestamp?
  /// How the way is; nil while there has been none.
  private var connectivity: Connectivity?
  /// When it is given up that a restart finds a way again.
  private var lossDeadline = Timestamp.distantFuture
  /// The time and route of the authenticated traffic last reported to ICE.
  private var authenticated = (at: Timestamp(nanoseconds: .min / 2), on: Route?.none)
  /// The remote peer's candidates whose description is not there yet.
  private var earlyCandidates: [ICECandidateInit] = []
  /// Remote candidates whose names are not resolved yet.
  var names = CandidateNames()
  private var isEnded = false
  private var dropCounts = DropCounts()

  /// - Parameters:
  ///   - tieBreaker, seed: of ICE; from a cryptographic source.
  package init(_ configuration: PeerConfiguration, candidates: [ICECandidate], tieBreaker: UInt64, seed: UInt64) {
    certificate = configuration.certificate
    connectTimeout = configuration.connectTimeout
    firstContactTimeout = configuration.firstContactTimeout
    var options = ICEConfiguration()
    // A little under RFC 7675's thirty seconds, so that a viewer that vanished is gone within them.
    options.consentLifetime = .milliseconds(25_000)
    options.transportPolicy = configuration.iceTransportPolicy
    ice = ICEAgent(
      role: .controlled, configuration: options, localCredentials: configuration.iceCredentials,
      tieBreaker: tieBreaker, seed: seed)
    ice.setLocalCandidates(candidates, isComplete: configuration.isGatheringComplete, now: .zero)
  }

  // MARK: - State

  /// Keys are there: media may be sent and received.
  package var isSecured: Bool { srtp != nil }
  /// The selected route; nil while no path works.
  package var selectedRoute: Route? { ice.selectedRoute }
  /// Something can leave and will be protected.
  package var canSend: Bool { isSecured && ice.selectedRoute != nil }
  /// The path's round-trip time by ICE checks; nil before the first.
  package var roundTripTime: TimeDelta? { ice.roundTripTime }
  /// The IANA name of the SRTP profile; nil before the handshake is done.
  package var profileName: String? {
    profile.map { $0 == .aeadAes128Gcm ? "AEAD_AES_128_GCM" : "AES_CM_128_HMAC_SHA1_80" }
  }

  /// Received packets that were not used, by reason.
  package var drops: DropCounts {
    var drops = dropCounts
    for reason in ICEDropReason.allCases { drops[.stun] += UInt64(ice.statistics.drops(reason)) }
    return drops
  }

  /// When `deadlineReached` must be called; `.distantFuture` when nothing is awaited.
  package var nextDeadline: Timestamp {
    guard !isEnded else { return .distantFuture }
    // Without a path, DTLS cannot retransmit.
    let handshake = ice.selectedRoute == nil ? .distantFuture : handshakeDeadline
    return min(ice.nextDeadline ?? .distantFuture, min(handshake, min(connectDeadline, lossDeadline)))
  }

  /// The first 32 bits of our STUN transactions.
  package var transactionTag: UInt32 {
    get { ice.transactionTag }
    set { ice.transactionTag = newValue }
  }

  // MARK: - Descriptions and candidates

  /// The first offer is ours. Checks of the remote peer may overtake its answer, and must find us in the role that the
  /// answer gives us.
  package mutating func offerFirst() { ice.setRole(.controlling) }

  /// Ends the transport if it is not secured within the time allowed, counted from now.
  package mutating func limitConnecting(_ now: Timestamp) {
    guard connectDeadline == .distantFuture else { return }
    connectDeadline = now + min(connectTimeout, firstContactTimeout ?? connectTimeout)
    laterDeadline = now + connectTimeout
  }

  /// The remote peer is there: it has the time for the handshake too.
  private mutating func noteContact() {
    guard let laterDeadline else { return }
    self.laterDeadline = nil
    if connectDeadline != .distantFuture { connectDeadline = laterDeadline }
  }

  /// Puts to work what two descriptions have agreed on. Where they restart ICE, the path in use stays in use until there
  /// is another.
  /// - Throws: when the descriptions name credentials that cannot be used; nothing has changed then.
  package mutating func apply(_ agreed: NegotiatedTransport, now: Timestamp) throws(NegotiationFailure) {
    guard agreed.remoteCredentials.isWellFormed, agreed.localCredentials.isWellFormed else {
      throw NegotiationFailure(
        kind: .malformed, sentence: "The description's ice-ufrag or ice-pwd is too short or has characters it must not."
      )
    }
    if dtls == nil { try makeDTLS(agreed, now: now) }
    if agreed.localCredentials != ice.localCredentials {
      ice.restart(localCredentials: agreed.localCredentials, now: now)
    }
    ice.setRole(agreed.isControlling ? .controlling : .controlled)
    ice.setRemote(credentials: agreed.remoteCredentials, isLite: agreed.remoteIsLite, now: now)
    names.forget(except: agreed.remoteCredentials.usernameFragment)
    for candidate in agreed.remoteCandidates {
      add(candidate, usernameFragment: agreed.remoteCredentials.usernameFragment, now: now)
    }
    addEarlyCandidates(now)
    if agreed.remoteEndOfCandidates { ice.endRemoteCandidates(now: now) }
  }

  private mutating func makeDTLS(_ agreed: NegotiatedTransport, now: Timestamp) throws(NegotiationFailure) {
    let fingerprints = CertificateFingerprint.checkable(among: agreed.remoteFingerprints)
    do throws(OpenSSLError) {
      dtls = try DTLSTransport(role: agreed.dtlsRole, certificate: certificate, expectedFingerprints: fingerprints)
    } catch {
      throw NegotiationFailure(kind: .unsupported, sentence: "No DTLS association could be made: \(error).")
    }
    limitConnecting(now)
  }

  // MARK: - Candidates

  /// Our candidates as they are now.
  package mutating func setLocalCandidates(_ candidates: [ICECandidate], isComplete: Bool, now: Timestamp) {
    ice.setLocalCandidates(candidates, isComplete: isComplete, now: now)
  }

  /// The system refuses to send this way, or the connection that carried it was closed.
  package mutating func refuse(_ route: Route, now: Timestamp) { ice.refuse(route, now: now) }

  /// Takes the candidates that came before the description they belong to.
  mutating func addEarlyCandidates(_ now: Timestamp) {
    let early = earlyCandidates
    earlyCandidates = []
    for candidate in early { try? addRemoteCandidate(candidate, isStable: true, now: now) }
  }

  /// Takes a candidate for the present session, or has its name resolved first.
  mutating func add(_ candidate: CandidateDescription, usernameFragment: String?, now: Timestamp) {
    if case .name = candidate.address {
      names.add(candidate, usernameFragment: usernameFragment ?? ice.remoteCredentials?.usernameFragment)
    } else if let usable = ICECandidate(candidate) {
      ice.addRemoteCandidate(usable, usernameFragment: usernameFragment, now: now)
    }
  }

  /// The candidates of this name are at `ip`; nil: nowhere.
  package mutating func resolve(_ name: String, _ ip: IPAddress?, now: Timestamp) {
    for waiting in names.remove(name, isKnown: ip != nil) {
      guard let ip, let usable = ICECandidate(waiting.candidate, at: ip) else { continue }
      ice.addRemoteCandidate(usable, usernameFragment: waiting.usernameFragment, now: now)
    }
  }

  // MARK: - Trickled candidates

  /// Takes a candidate, or the empty one behind the last; keeps it until the description it belongs to is agreed.
  /// - Parameter isStable: no description is pending that a candidate without a user name fragment may be for.
  /// - Throws: when it cannot be read.
  package mutating func addRemoteCandidate(
    _ candidate: ICECandidateInit, isStable: Bool, now: Timestamp
  ) throws(NegotiationFailure) {
    let isEnd = candidate.candidate.isEmpty
    let description = CandidateDescription(parsing: candidate.candidate)
    guard isEnd || description != nil else {
      throw NegotiationFailure(
        kind: .malformed, sentence: "The candidate cannot be read; it must be an RFC 8839 candidate attribute.")
    }
    let fragment = candidate.usernameFragment ?? description?.usernameFragment
    let known = ice.remoteCredentials?.usernameFragment
    guard let known, fragment == known || (fragment == nil && isStable) else {
      if earlyCandidates.count >= Self.maximumEarlyCandidates { earlyCandidates.removeFirst() }
      earlyCandidates.append(candidate)
      return
    }
    if let description { add(description, usernameFragment: fragment, now: now) }
    if isEnd { ice.endRemoteCandidates(now: now) }
  }

  // MARK: - Receiving

  /// Takes one datagram of `kind`, which is decrypted in place.
  /// - Returns: its content for other layers; nil if it belonged to the transport, or was dropped and counted.
  @_lifetime(bytes: copy bytes)
  package mutating func receive(
    _ bytes: inout MutableSpan<UInt8>, _ kind: PacketKind?, route: Route, now: Timestamp,
    into batch: inout DatagramBatch, events: inout [Event]
  ) -> Content? {
    switch kind {
    case .stun:
      var changes: [ICEEvent] = []
      ice.receive(bytes.span, route: route, now: now, into: &batch, events: &changes)
      apply(changes, now: now, into: &batch, events: &events)
    case .dtls: receiveDTLS(bytes.span, now: now, into: &batch, events: &events)
    case .rtp: return unprotect(&bytes, isRTCP: false, route: route, now: now).map { .rtp(count: $0) }
    case .rtcp: return unprotect(&bytes, isRTCP: true, route: route, now: now).map { .rtcp(count: $0) }
    case .turnChannel, nil: dropCounts[.unknownKind] += 1
    }
    return nil
  }

  /// Takes a STUN message that was parsed already, to find whose it is.
  package mutating func receive(
    _ message: STUNMessage, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    var changes: [ICEEvent] = []
    ice.receive(message, route: route, now: now, into: &batch, events: &changes)
    apply(changes, now: now, into: &batch, events: &events)
  }

  private mutating func receiveDTLS(
    _ bytes: Span<UInt8>, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    // Only a path that passed an ICE check may take part: anything else could be anybody's.
    guard let route = ice.selectedRoute, dtls != nil else { return earlyHandshake.keep(bytes) }
    apply(dtls!.receive(bytes, route: route, now: now, into: &batch), &events)
  }

  /// Decrypts in place; nil (and counted) when the packet is not genuine.
  @_lifetime(bytes: copy bytes)
  private mutating func unprotect(
    _ bytes: inout MutableSpan<UInt8>, isRTCP: Bool, route: Route, now: Timestamp
  ) -> Int? {
    guard isSecured else {
      dropCounts[.noKeys] += 1
      return nil
    }
    do throws(SRTPError) {
      let count = isRTCP ? try srtp!.unprotectRTCP(&bytes) : try srtp!.unprotectRTP(&bytes)
      authenticate(route, now)
      return count
    } catch {
      switch error {
      case .replayed, .tooOld: dropCounts[.replay] += 1
      case .malformed: dropCounts[.malformed] += 1
      default: dropCounts[.authentication] += 1
      }
      return nil
    }
  }

  /// Genuine media and reports show that the remote peer lives, when a lossy network eats consent checks.
  private mutating func authenticate(_ route: Route, _ now: Timestamp) {
    guard now - authenticated.at >= Self.authenticationInterval || route != authenticated.on else { return }
    authenticated = (now, route)
    ice.noteAuthenticatedTraffic(at: now, on: route)
  }

  /// Performs everything that is due at `now`; without effect if nothing is.
  package mutating func deadlineReached(_ now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]) {
    if let due = ice.nextDeadline, due <= now {
      var changes: [ICEEvent] = []
      ice.deadlineReached(now: now, into: &batch, events: &changes)
      apply(changes, now: now, into: &batch, events: &events)
    }
    if let route = ice.selectedRoute, dtls != nil, handshakeDeadline <= now {
      apply(dtls!.deadlineReached(now: now, route: route, into: &batch), &events)
    }
    if connectDeadline <= now {
      connectDeadline = .distantFuture
      events.append(.ended(.timedOut))
    }
    if lossDeadline <= now {
      lossDeadline = .distantFuture
      events.append(.ended(.unreachable(pathsTried)))
    }
  }

  // MARK: - Consequences

  private mutating func apply(
    _ changes: [ICEEvent], now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    for change in changes {
      switch change {
      case .selectedRouteChanged(let route):
        if isSecured { events.append(.routeChanged) }
        events.append(.claimed(RouteClaim(route: route, isProved: true)))
        startHandshake(on: route, now: now, into: &batch, events: &events)
      case .stateChanged(let state): follow(state, now: now, &events)
      case .routeClaimed(let route):
        noteContact()
        events.append(.claimed(RouteClaim(route: route, isProved: false)))
      case .routeProved(let route):
        noteContact()
        events.append(.claimed(RouteClaim(route: route, isProved: true)))
      case .roleChanged: break
      }
    }
  }

  /// Before there was a way, ICE's failure is the end; later a restart may help, for which there is some time.
  private mutating func follow(_ state: ICEState, now: Timestamp, _ events: inout [Event]) {
    let before = connectivity
    switch state {
    case .connected:
      connectivity = .good
      lossDeadline = .distantFuture
      events.append(.reconnected)
    case .disconnected:
      connectivity = .silent
      events.append(.disconnected)
    case .new, .checking, .failed:
      if before == nil {
        if state == .failed { events.append(.ended(.unreachable(pathsTried))) }
      } else if before != .lost {
        connectivity = .lost
        lossDeadline = min(lossDeadline, now + connectTimeout)
        events.append(.disconnected)
      }
    }
    if let before, let connectivity, connectivity != before { events.append(.connectivityChanged(connectivity)) }
  }

  private var pathsTried: PathsTried {
    let counts = ice.pairCounts
    return PathsTried(
      host: counts[.host] ?? 0, reflexive: counts[.reflexive] ?? 0, relay: counts[.relay] ?? 0, tcp: counts[.tcp] ?? 0,
      hasLocalCandidates: !ice.localCandidates.isEmpty, hasRemoteCandidates: !ice.remoteCandidates.isEmpty,
      wasConnected: connectivity != nil)
  }

  private mutating func startHandshake(
    on route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    guard dtls != nil else { return }
    apply(dtls!.start(now: now, route: route, into: &batch), &events)
    let early = earlyHandshake.datagrams
    earlyHandshake = EarlyHandshake()
    for datagram in early {
      apply(dtls!.receive(datagram.span, route: route, now: now, into: &batch), &events)
    }
  }

  private mutating func apply(_ changes: [DTLSEvent], _ events: inout [Event]) {
    handshakeDeadline = dtls?.nextDeadline ?? .distantFuture
    for change in changes {
      switch change {
      case .connected(let keys): secure(with: keys, &events)
      case .closedByPeer: events.append(.ended(.closedRemotely))
      case .failed(.fingerprintMismatch): events.append(.ended(.fingerprintMismatch))
      case .failed(let failure): events.append(.ended(.handshakeFailed("\(failure)")))
      case .data(let message): events.append(.data(message))
      }
    }
  }

  private mutating func secure(with keys: SRTPKeys, _ events: inout [Event]) {
    do throws(SRTPError) {
      srtp = try SRTPSession(keys: keys)
      profile = keys.profile
      keyCode = dtls?.peerFingerprint?.keyCode(with: certificate.fingerprint)
      connectDeadline = .distantFuture
      events.append(.secured)
    } catch {
      events.append(.ended(.handshakeFailed("SRTP keys were refused: \(error)")))
    }
  }

  // MARK: - What goes out

  /// Protects the RTP packet in the first `count` bytes of `datagram`, where `SRTPSession.headroom` bytes follow.
  /// - Returns: the length of what may leave; 0 when nothing may.
  @_lifetime(datagram: copy datagram)
  package mutating func protectRTP(_ datagram: inout MutableSpan<UInt8>, count: Int) -> Int {
    guard isSecured, count > 0 else { return 0 }
    return (try? srtp!.protectRTP(&datagram, count: count)) ?? 0
  }

  /// Sends the compound RTCP packet that `body` writes; nothing when it writes nothing, or there is no way to send.
  package mutating func sendRTCP(into batch: inout DatagramBatch, _ body: (inout ByteWriter) -> Void) {
    guard isSecured, let route = ice.selectedRoute else { return }
    batch.append(to: route) { datagram in
      var writer = ByteWriter(datagram._mutatingExtracting(0..<Self.maximumRTCPSize))
      body(&writer)
      let count = writer.offset
      guard count > 0 else { return 0 }
      return (try? srtp!.protectRTCP(&datagram, count: count)) ?? 0
    }
  }

  /// Sends one message in DTLS. Without a path it is lost, as any datagram may be.
  package mutating func sendData(_ message: Span<UInt8>, into batch: inout DatagramBatch) {
    guard dtls != nil, let route = ice.selectedRoute else { return }
    try? dtls!.send(message, route: route, into: &batch)
  }

  /// Sends DTLS close_notify if there is a connection.
  package mutating func close(into batch: inout DatagramBatch) {
    if let route = ice.selectedRoute { dtls?.close(route: route, into: &batch) }
  }

  /// Releases keys and connections; no deadline remains.
  package mutating func end() {
    isEnded = true
    earlyHandshake = EarlyHandshake()
    earlyCandidates = []
    names = CandidateNames()
    srtp = nil
    dtls = nil
  }
}

/// The remote peer's first message often overtakes the answer to our check, or its description: it is kept until a path is
/// proved, and need not be sent again. Browsers with keys that quantum computers cannot break need two datagrams for it.
private struct EarlyHandshake {
  /// The message and its retransmission; the newest datagrams are kept.
  static let maximumDatagrams = 4

  private(set) var datagrams: [[UInt8]] = []

  mutating func keep(_ datagram: Span<UInt8>) {
    if datagrams.count == Self.maximumDatagrams { datagrams.removeFirst() }
    datagrams.append([UInt8](copying: datagram))
  }
}
