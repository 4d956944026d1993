import RTCDTLS
import RTCEngine
import RTCICE
import RTCPrimitives
import RTCSRTP
import RTCWire
import Testing

/// Two transports without peers around them: they find a path, shake hands, and protect what is given to them.
@Suite struct TransportTests {
  /// One side and what it has told.
  private final class Side {
    var transport: Transport
    var batch = DatagramBatch()
    var events: [Transport.Event] = []
    var received: [[UInt8]] = []
    let address: SocketAddress

    init(_ configuration: PeerConfiguration) {
      address = configuration.localAddresses[0]
      transport = Transport(
        configuration, candidates: ICECandidate.hosts(addresses: [(address.ip, 0)], port: address.port), tieBreaker: 5,
        seed: configuration.seed)
    }

    var datagrams: [[UInt8]] { Self.copies(batch) }

    private static func copies(_ batch: borrowing DatagramBatch) -> [[UInt8]] {
      var result: [[UInt8]] = []
      for index in 0..<batch.count { result.append([UInt8](copying: batch.datagram(index))) }
      return result
    }

    var nextDeadline: Timestamp { transport.nextDeadline }
    var drops: DropCounts { transport.drops }
    var profileName: String? { transport.profileName }
    var isSecured: Bool { events.contains { if case .secured = $0 { true } else { false } } }
    var ends: [EndReason] { events.compactMap { if case .ended(let reason) = $0 { reason } else { nil } } }
    var messages: [[UInt8]] { events.compactMap { if case .data(let bytes) = $0 { bytes } else { nil } } }
  }

  private let offerer: Side
  private let answerer: Side
  private let certificates: [DTLSCertificate]
  private let credentials: [ICECredentials]
  private let start = Timestamp.zero + .seconds(1_000)

  init() throws {
    var random = SeededGenerator(seed: 4)
    let certificates = [try DTLSCertificate(), try DTLSCertificate()]
    let credentials = [ICECredentials(using: &random), ICECredentials(using: &random)]
    let sides = [0, 1].map { index in
      Side(
        PeerConfiguration(
          localAddresses: [SocketAddress(ip: .v4(0x0A00_0001 + UInt32(index)), port: 5_000)],
          certificate: certificates[index], iceCredentials: credentials[index], seed: UInt64(index)))
    }
    (offerer, answerer) = (sides[0], sides[1])
    self.certificates = certificates
    self.credentials = credentials
  }

  /// The negotiated transport from this side's view.
  private func agreed(_ side: Int, fingerprint: [UInt8]? = nil) -> NegotiatedTransport {
    let other = side == 0 ? answerer : offerer
    return NegotiatedTransport(
      localCredentials: credentials[side], remoteCredentials: credentials[1 - side], restartsICE: false,
      isControlling: side == 0, remoteIsLite: false, remoteTrickles: true,
      remoteCandidates: ICECandidate.hosts(addresses: [(other.address.ip, 0)], port: other.address.port)
        .map(CandidateDescription.init),
      remoteEndOfCandidates: true,
      remoteFingerprints: [
        CertificateFingerprint(
          algorithm: "sha-256", bytes: fingerprint ?? certificates[1 - side].fingerprint.bytes)
      ],
      dtlsRole: side == 0 ? .client : .server, tag: MediaReference(index: 0, mid: "0"))
  }

  /// Lets both sides talk for `duration`, without a delay between them.
  private func run(from start: Timestamp, for duration: TimeDelta, until isDone: () -> Bool = { false }) -> Timestamp {
    var now = start
    while now <= start + duration, !isDone() {
      for (side, other) in [(offerer, answerer), (answerer, offerer)] {
        while side.transport.nextDeadline <= now {
          side.transport.deadlineReached(now, into: &side.batch, events: &side.events)
        }
        deliver(from: side, to: other, now)
      }
      now = now + .milliseconds(5)
    }
    return now
  }

  private func deliver(from side: Side, to other: Side, _ now: Timestamp) {
    for datagram in side.datagrams {
      var bytes = datagram
      let route = Route(local: other.address, remote: side.address)
      var span = bytes.mutableSpan
      let content = other.transport.receive(
        &span, PacketKind(datagram.span), route: route, now: now, into: &other.batch, events: &other.events)
      switch content {
      case .rtp(let count), .rtcp(let count): other.received.append(Array(bytes.prefix(count)))
      case nil: break
      }
    }
    side.batch.removeAll()
  }

  @Test func `it finds a path and protects what is sent`() throws {
    let isIdle = !offerer.transport.isSecured && offerer.transport.selectedRoute == nil
    #expect(isIdle)
    offerer.transport.offerFirst()
    try answerer.transport.apply(agreed(1), now: start)
    try offerer.transport.apply(agreed(0), now: start)
    var now = run(from: start, for: .seconds(5)) { offerer.isSecured && answerer.isSecured }
    let canSend = offerer.transport.canSend && answerer.transport.canSend
    try #require(canSend)
    #expect(offerer.profileName == "AEAD_AES_128_GCM")

    let packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1, 2, 3]
    let selected = offerer.transport.selectedRoute
    let route = try #require(selected)
    offerer.batch.append(to: route) { datagram in
      for index in packet.indices { datagram[index] = packet[index] }
      return offerer.transport.protectRTP(&datagram, count: packet.count)
    }
    offerer.transport.sendRTCP(into: &offerer.batch) { ReceiverReport(sender: SSRC(9)).write(into: &$0) }
    offerer.transport.sendData([7, 8, 9].span, into: &offerer.batch)
    now = run(from: now, for: .milliseconds(10))
    #expect(answerer.received.count == 2 && answerer.received.first == packet)
    #expect(answerer.messages == [[7, 8, 9]])
    #expect(answerer.drops.total == 0)

    answerer.transport.close(into: &answerer.batch)
    answerer.transport.end()
    _ = run(from: now, for: .milliseconds(10))
    #expect(offerer.ends == [.closedRemotely])
    #expect(answerer.nextDeadline == .distantFuture)
  }

  @Test func `another certificate than the signaled one ends it`() throws {
    try answerer.transport.apply(agreed(1), now: start)
    try offerer.transport.apply(agreed(0, fingerprint: [UInt8](repeating: 1, count: 32)), now: start)
    _ = run(from: start, for: .seconds(5)) { !offerer.ends.isEmpty }
    #expect(offerer.ends == [.fingerprintMismatch] && !offerer.isSecured)
  }

  @Test func `without an answer its time runs out`() {
    offerer.transport.limitConnecting(start)
    #expect(offerer.nextDeadline == start + .seconds(15))
    offerer.transport.limitConnecting(start + .seconds(3))
    #expect(offerer.nextDeadline == start + .seconds(15))
    offerer.transport.deadlineReached(start + .seconds(15), into: &offerer.batch, events: &offerer.events)
    #expect(offerer.ends == [.timedOut])
  }

  @Test func `what comes before the keys is counted and not taken`() {
    var packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 30)
    let route = Route(local: offerer.address, remote: answerer.address)
    var span = packet.mutableSpan
    let content = offerer.transport.receive(
      &span, .rtp, route: route, now: start, into: &offerer.batch, events: &offerer.events)
    #expect(content == nil && offerer.drops[.noKeys] == 1)
  }

  @Test func `credentials that cannot be used change nothing`() {
    var wrong = agreed(0)
    wrong.remoteCredentials = ICECredentials(usernameFragment: "a", password: "b")
    var failure: NegotiationFailure?
    do throws(NegotiationFailure) { try offerer.transport.apply(wrong, now: start) } catch { failure = error }
    #expect(failure?.kind == .malformed)
    #expect(offerer.nextDeadline == .distantFuture)
  }
}
