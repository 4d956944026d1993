import RTCDTLS
import RTCEngine
import RTCICE
import RTCMedia
import RTCPrimitives
import RTCSCTP
import RTCSRTP
import RTCTestKit
import RTCWire

/// The far side of a peer, put together by hand from an ICE agent, a DTLS transport and an SRTP session, so that any plain
/// packet can be sent under the right keys. Nothing takes time on the way.
struct FarPeer: ~Copyable {
  private static let near = SocketAddress(ip: .v4(0x0A00_0001), port: 5_000)
  private static let far = SocketAddress(ip: .v4(0x0A00_0002), port: 6_000)
  /// The route from the far side's view.
  private static let route = Route(local: far, remote: near)
  /// The maximum number of datagrams that one packet may cause.
  private static let mostDatagrams = 600

  private var peer: Peer
  private var outbox = Outbox()
  private var ice: ICEAgent
  private var dtls: DTLSTransport
  private var srtp: SRTPSession?
  private var batch = DatagramBatch(capacity: 16 * 1024)
  private(set) var now = Timestamp.zero + .seconds(1_000)
  private var state = PeerState.new
  /// A packet was sent that ends the connection rightly.
  var hasSaidGoodbye = false

  /// The payload types that were agreed.
  let payloadTypes: [UInt8]
  /// Sources of media to the peer: those in the description, and unknown ones.
  let sources: [UInt32]
  /// The peer's own sources that were received.
  private(set) var heardSources: [UInt32] = []
  private var numbers: [Int: UInt16] = [:]
  private var video = SyntheticVideo(frameSize: 1_500, keyFrameSize: 4_000)
  private var audio = SyntheticAudio(packetSize: 40)

  /// A connection that stands; nil when OpenSSL has no memory.
  init?() {
    var random = SeededGenerator(seed: 5)
    guard let nearCertificate = try? DTLSCertificate(), let farCertificate = try? DTLSCertificate() else { return nil }
    let near = Self.configuration(Self.near, nearCertificate, &random)
    let far = Self.configuration(Self.far, farCertificate, &random)
    // Answers of ours are passive.
    guard
      let transport = try? DTLSTransport(
        role: .server, certificate: farCertificate, expectedFingerprints: [nearCertificate.fingerprint])
    else { return nil }
    dtls = transport
    peer = Peer(near)
    ice = ICEAgent(role: .controlled, localCredentials: far.iceCredentials, tieBreaker: 1, seed: 2)
    ice.addLocalCandidates(ICECandidate.hosts(addresses: [(Self.far.ip, 0)], port: Self.far.port), now: now)
    // A peer of ours makes the answer and is not needed any more.
    let offer = try? peer.perform(.createOffer, now: now, into: &outbox)
    var answerer = Peer(far)
    var left = Outbox()
    let made = try? answerer.perform(.acceptOffer(Self.description(offer)), now: now, into: &left)
    let answer = Self.description(made)
    let lines = answer.split(separator: "\r\n")
    payloadTypes = lines.filter { $0.hasPrefix("m=") }.flatMap { line in
      line.split(separator: " ").dropFirst(3).compactMap { UInt8($0) }
    }
    let named = lines.filter { $0.hasPrefix("a=ssrc:") }
      .compactMap { UInt32($0.dropFirst(7).prefix { $0 != " " }) }
    sources = Array(Set(named)).sorted().prefix(3) + [0x1234_5678]
    outbox.removeAll()
    ice.setRemote(credentials: near.iceCredentials, now: now)
    for candidate in ICECandidate.hosts(addresses: [(Self.near.ip, 0)], port: Self.near.port) {
      ice.addRemoteCandidate(candidate, now: now)
    }
    handle(.acceptAnswer(answer))
    pass(.milliseconds(300))
    precondition(state == .connected && srtp != nil, "no connection: \(state)")
  }

  private static func configuration(
    _ address: SocketAddress, _ certificate: DTLSCertificate, _ random: inout SeededGenerator
  ) -> PeerConfiguration {
    var configuration = PeerConfiguration(
      localAddresses: [address], certificate: certificate, iceCredentials: ICECredentials(using: &random),
      seed: random.next())
    configuration.sendsVideo = PeerConfiguration.OutgoingVideo()
    configuration.receivesVideo = true
    configuration.sendsAudio = PeerConfiguration.OutgoingAudio()
    configuration.receivesAudio = true
    configuration.receivableVideo = [
      .vp8, VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=42e01f"), VideoPayloadFormat(codec: .vp9),
      VideoPayloadFormat(codec: .av1),
    ]
    configuration.sendsVideo?.codecs = configuration.receivableVideo
    configuration.dataChannels = DataChannelOptions()
    return configuration
  }

  private static func description(_ result: CommandResult?) -> String {
    if case .description(let description) = result { return description.sdp }
    fatalError("no description")
  }

  // MARK: Steps

  private mutating func handle(_ command: Command) {
    _ = try? peer.perform(command, now: now, into: &outbox)
    exchange()
  }

  private mutating func give(_ datagram: [UInt8]) {
    var datagram = datagram
    let kind = PacketKind(datagram.span)
    let route = Route(local: Self.near, remote: Self.far)
    peer.handle(.datagram(datagram.mutableSpan, kind, route), now: now, into: &outbox)
    exchange()
  }

  mutating func sendRTP(_ packet: [UInt8]) {
    var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.headroom)
    var span = buffer.mutableSpan
    guard let count = try? srtp?.protectRTP(&span, count: packet.count) else { return }
    give(Array(buffer.prefix(count)))
  }

  mutating func sendRTCP(_ packet: [UInt8]) {
    // A goodbye may lie anywhere among bytes that are given as they are.
    if packet.contains(203) { hasSaidGoodbye = true }
    var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.headroom)
    var span = buffer.mutableSpan
    guard let count = try? srtp?.protectRTCP(&span, count: packet.count) else { return }
    give(Array(buffer.prefix(count)))
  }

  mutating func sendData(_ message: [UInt8]) {
    try? dtls.send(message.span, route: Self.route, into: &batch)
    flush()
    exchange()
  }

  /// The peer has something to send.
  mutating func makeMedia(_ choice: UInt8) {
    video.needsKeyFrame = video.needsKeyFrame || choice & 0x80 != 0
    for state in peer.transceivers where !state.isStopped {
      switch state.kind {
      case .video where choice & 1 == 0:
        video.nextTime = now
        peer.handle(.frame(video.next(now), state.id), now: now, into: &outbox)
      case .audio where choice & 2 == 0: peer.handle(.audio(audio.next(), state.id), now: now, into: &outbox)
      default: break
      }
    }
    exchange()
  }

  mutating func pass(_ time: TimeDelta) {
    let end = now + time
    exchange()
    while true {
      let next = min(outbox.nextDeadline, min(ice.nextDeadline ?? .distantFuture, dtls.nextDeadline))
      guard next <= end else { break }
      now = max(now, next)
      var turns = 0
      while outbox.nextDeadline <= now {
        peer.handle(.deadline, now: now, into: &outbox)
        exchange()
        turns += 1
        precondition(turns < 200, "the peer asks to be woken at once for ever")
      }
      serveIce()
      take(dtls.deadlineReached(now: now, route: Self.route, into: &batch))
      flush()
      exchange()
    }
    now = end
  }

  private mutating func serveIce() {
    var events: [ICEEvent] = []
    var turns = 0
    while let next = ice.nextDeadline, next <= now, turns < 50 {
      ice.deadlineReached(now: now, into: &batch, events: &events)
      turns += 1
    }
    take(events)
  }

  // MARK: Exchange

  /// Takes the peer's datagrams and passes it the answers, until neither side has anything to send.
  private mutating func exchange() {
    var rounds = 0
    while true {
      look()
      precondition(outbox.datagrams.count <= Self.mostDatagrams, "\(outbox.datagrams.count) datagrams for one")
      let datagrams = (0..<outbox.datagrams.count).map { index in
        let bytes = outbox.datagrams.datagram(index)
        return bytes.indices.map { bytes[$0] }
      }
      outbox.removeAll()
      if datagrams.isEmpty { return }
      for datagram in datagrams { hear(datagram) }
      flush()
      rounds += 1
      precondition(rounds < 100, "they answer each other for ever")
    }
  }

  private mutating func look() {
    for event in outbox.events { if case .stateChanged(let new) = event { state = new } }
    if case .ended = state { precondition(hasSaidGoodbye, "the connection has ended: \(state)") }
  }

  private mutating func hear(_ datagram: [UInt8]) {
    switch PacketKind(datagram.span) {
    case .stun:
      var events: [ICEEvent] = []
      ice.receive(datagram.span, route: Self.route, now: now, into: &batch, events: &events)
      take(events)
    case .dtls: take(dtls.receive(datagram.span, route: Self.route, now: now, into: &batch))
    case .rtp:
      guard let source = RTPHeader(parsing: datagram.span)?.ssrc.value, !heardSources.contains(source) else { return }
      heardSources.append(source)
    default: break
    }
  }

  private mutating func take(_ events: [ICEEvent]) {
    for event in events {
      guard case .selectedRouteChanged = event else { continue }
      take(dtls.start(now: now, route: Self.route, into: &batch))
    }
  }

  private mutating func take(_ events: [DTLSEvent]) {
    for event in events { if case .connected(let keys) = event { srtp = try? SRTPSession(keys: keys) } }
  }

  /// Passes the datagrams of the far side's machines to the peer.
  private mutating func flush() {
    let datagrams = (0..<batch.count).map { index in
      let bytes = batch.datagram(index)
      return bytes.indices.map { bytes[$0] }
    }
    batch.removeAll()
    for datagram in datagrams {
      var datagram = datagram
      let kind = PacketKind(datagram.span)
      let route = Route(local: Self.near, remote: Self.far)
      peer.handle(.datagram(datagram.mutableSpan, kind, route), now: now, into: &outbox)
    }
  }

  // MARK: Numbers

  /// The sequence number of the next packet of a source.
  mutating func nextNumber(of source: Int, step: Int) -> UInt16 {
    let number = numbers[source, default: 1_000] &+ UInt16(truncatingIfNeeded: step)
    numbers[source] = number
    return number
  }

  /// On a clock of 90 kHz.
  var timestamp: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000 * 9 / 100) }

  static func bytes(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }
}
