import RTCDtls
import RTCIce
import RTCMedia
public import RTCPrimitives
import RTCSrtp
import RTCWire

/// One WebRTC peer, sans-IO: what goes in is an `Input` with its time, what comes out is in the `Outbox`.
///
/// Owned by one thread. It reads no clock, opens no socket and draws no random number.
public struct Peer: ~Copyable {
  let configuration: PeerConfiguration
  var timers = TimerTable()
  var state = PeerState.new

  var negotiation: Negotiation
  /// How incoming video is numbered, once that is agreed.
  var video: VideoAgreement?
  var ice: IceAgent
  var dtls: DtlsTransport?
  /// A DTLS message that came before any path was proved.
  var earlyHandshake: [UInt8]?
  /// There once the handshake is done and the fingerprint checked.
  var srtp: SrtpSession?
  var srtpProfile: SrtpProfile?

  let sendIdentity: SendStreamIdentity
  var sender: VideoSendStream?
  var receiver: VideoReceiveStream?
  var incoming = IncomingVideo()
  var audio: PeerAudio
  var channels: PeerDataChannels

  var pacer = Pacer()
  var bitrate: LossBasedBitrate
  var history = TransportHistory()
  /// What left, for a far side without RTX.
  var sentPackets: ProtectedPackets?
  /// When the last media packet left.
  var lastMediaSent = Timestamp.zero
  /// The `lastMediaSent` of the rest in which a key frame request was let pass.
  var impatientSince: Timestamp?
  /// How often the tail was sent again in vain.
  var tailAttempts = 0
  var arrivals = ArrivalLog()
  var roundTripTime: TimeDelta?
  var drops = DropCounts()
  /// What was sent in a life that has ended.
  var finalVideo = SendStatistics()
  /// When a key frame was last asked of the source, so that impatient viewers do not ask for one per packet.
  var keyFrameRequested = Timestamp(nanoseconds: .min / 2)
  var announcedBitrate = BitRate.zero

  public init(_ configuration: PeerConfiguration) {
    self.configuration = configuration
    channels = PeerDataChannels(configuration)
    var random = SeededGenerator(seed: configuration.seed)
    sendIdentity = SendStreamIdentity(
      ssrc: SSRC(UInt32(truncatingIfNeeded: random.next())), rtxSSRC: SSRC(UInt32(truncatingIfNeeded: random.next())),
      cname: String(random.next(), radix: 36),
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())),
      firstPictureID: UInt16(truncatingIfNeeded: random.next()) & 0x7FFF)
    let candidates = IceCandidate.hosts(
      addresses: configuration.localAddresses.map { ($0.ip, 0) }, port: configuration.localAddresses.first?.port ?? 0)
    negotiation = Peer.makeNegotiation(
      configuration, sendIdentity, sessionID: random.next() >> 2, candidates: candidates)
    ice = Peer.makeIceAgent(configuration, tieBreaker: random.next(), seed: random.next(), candidates: candidates)
    bitrate = LossBasedBitrate(limits: configuration.bitrates)
    audio = PeerAudio(using: &random, beside: sendIdentity, bitrates: configuration.audioBitrates)
    if let media = Peer.audioTransceiver(configuration, audio.identity) { _ = negotiation.add(media) }
  }

  /// The one way in. Takes one input at `now` and leaves datagrams, events and the next deadline in `outbox`.
  ///
  /// Times must not go back between calls. What the far side does wrong is counted in the statistics, never thrown.
  public mutating func handle(_ input: consuming Input, now: Timestamp, into outbox: inout Outbox) {
    switch consume input {
    case .datagram(var bytes, let route): receive(&bytes, route: route, now: now, into: &outbox)
    case .deadline: break  // handled below, like every deadline that has come
    case .frame(let frame): send(frame, now: now, into: &outbox)
    case .audio(let frame): send(frame, now: now, into: &outbox)
    case .command(let command): perform(command, now: now, into: &outbox)
    }
    runTimers(now, into: &outbox)
    outbox.nextDeadline = timers.next?.time ?? .distantFuture
  }

  /// A snapshot of what the peer has done so far.
  public var statistics: PeerStatistics {
    var result = PeerStatistics()
    result.state = state
    result.video = sender?.statistics ?? finalVideo
    result.roundTripTime = roundTripTime ?? ice.roundTripTime
    result.targetBitrate = bitrate.current
    result.loss = bitrate.lastSecondLoss
    result.selectedRoute = ice.selectedRoute
    result.videoFormats = sender?.format.codecs.map(\.format) ?? []
    result.supportsColorSpace = sender?.format.supportsColorSpace ?? false
    result.srtpProfile = srtpProfile.map { $0 == .aeadAes128Gcm ? "AEAD_AES_128_GCM" : "AES_CM_128_HMAC_SHA1_80" }
    result.framesReceived = receiver?.framesReceived ?? 0
    result.packetsReceived = receiver?.statistics.received ?? 0
    result.audio = audio.statistics
    result.audioPacketsReceived = audio.receiver?.statistics.received ?? 0
    result.drops = drops
    for reason in IceDropReason.allCases { result.drops[.stun] += UInt64(ice.statistics.drops(reason)) }
    return result
  }

  // MARK: - State

  /// True when media may be sent and received.
  var isSecured: Bool { srtp != nil }

  mutating func change(to newState: PeerState, into outbox: inout Outbox) {
    if case .ended = state { return }
    guard newState != state else { return }
    state = newState
    outbox.events.append(.stateChanged(newState))
  }

  /// Ends the peer's life: nothing is sent any more, memory is let go.
  mutating func end(_ reason: EndReason, into outbox: inout Outbox) {
    if isEnded { return }
    closeDataChannels(.zero, into: &outbox)
    change(to: .ended(reason), into: &outbox)
    timers = TimerTable()
    finalVideo = sender?.statistics ?? finalVideo
    sender = nil
    receiver = nil
    audio.end()
    sentPackets = nil
    earlyHandshake = nil
    srtp = nil
    dtls = nil
  }

  var isEnded: Bool { if case .ended = state { true } else { false } }
}

extension Peer {
  /// Packets kept for being sent again.
  package var retainedPackets: Int { sender?.retainedPackets ?? 0 }
}
