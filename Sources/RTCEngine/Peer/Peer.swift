import RTCDTLS
import RTCICE
import RTCMedia
public import RTCPrimitives
import RTCSRTP
import RTCWire

/// One WebRTC peer, sans-IO: what goes in is an `Input` with its time, what comes out is in the `Outbox`.
///
/// Any number of transceivers share one transport, one pacer, one rate control and one account of what arrived.
/// Owned by one thread. It reads no clock, opens no socket and draws no random number.
public struct Peer: ~Copyable {
  let configuration: PeerConfiguration
  var timers = TimerTable()
  var state = PeerState.new
  /// For SSRCs and first numbers: nothing secret.
  var random: SeededGenerator

  // Negotiation.
  var negotiation: Negotiation
  var notice = NegotiationNeededFlag()
  /// The far side's tracks that were told of.
  var remoteTracks: [RemoteTrackDescription] = []
  /// The far side's candidates whose description is not there yet.
  var earlyCandidates: [ICECandidateInit] = []

  /// What came before the answer to our offer; nil while none is pending that asks for more.
  var early: EarlyMedia?

  // Transport.
  var ice: ICEAgent
  var dtls: DTLSTransport?
  /// What of DTLS came before any path was proved.
  var earlyHandshake = EarlyHandshake()
  /// There once the handshake is done and the fingerprint checked.
  var srtp: SRTPSession?
  var srtpProfile: SRTPProfile?
  /// When genuine traffic was last told to ICE.
  var heard = Timestamp(nanoseconds: .min / 2)

  // Media, one for each transceiver.
  /// What the first video is sent as; its source also signs our reports.
  var primary: SendStreamIdentity
  var videos: [PeerVideo] = []
  var sounds: [PeerAudio] = []
  /// Whose the far side's sources are.
  var streams = SSRCTable()
  /// What the numbers of incoming header extensions mean: the same in all m-sections of a bundle (RFC 8843 §9.1).
  var incomingExtensions = RTPHeaderExtensionMap()

  var channels: PeerDataChannels

  // Shared by all that is sent.
  var pacer = Pacer()
  /// The video that the pacer serves, and how many packets of it have left in a row.
  var turn = (video: 0, packets: 0)
  var bitrate: LossBasedBitrate
  var history = TransportSendHistory()
  var arrivals = TWCCRecorder()
  var roundTripTime: TimeDelta?
  var drops = DropCounts()

  /// Does what a process does once, so that the first peer need not do it in the middle of its handshake. Any thread.
  public static func prepare() { SRTPSession.prepare() }

  public init(_ configuration: PeerConfiguration) {
    self.configuration = configuration
    channels = PeerDataChannels(configuration)
    var random = SeededGenerator(seed: configuration.seed)
    primary = SendStreamIdentity(using: &random)
    let candidates = ICECandidate.hosts(
      addresses: configuration.localAddresses.map { ($0.ip, 0) }, port: configuration.localAddresses.first?.port ?? 0)
    negotiation = Peer.makeNegotiation(
      configuration, cname: primary.cname, sessionID: random.next() >> 2, candidates: candidates)
    ice = Peer.makeICEAgent(configuration, tieBreaker: random.next(), seed: random.next(), candidates: candidates)
    bitrate = LossBasedBitrate(limits: configuration.bitrates)
    self.random = random
    addConfiguredTransceivers()
  }

  /// The one way in. Takes one input at `now` and leaves datagrams, events and the next deadline in `outbox`.
  ///
  /// Times must not go back between calls. What the far side does wrong is counted in the statistics, never thrown.
  public mutating func handle(_ input: consuming Input, now: Timestamp, into outbox: inout Outbox) {
    switch consume input {
    case .datagram(var bytes, let route): receive(&bytes, route: route, now: now, into: &outbox)
    case .deadline: break  // handled below, like every deadline that has come
    case .frame(let frame, let id): send(frame, of: id, now: now, into: &outbox)
    case .audio(let frame, let id): send(frame, of: id, now: now, into: &outbox)
    case .command(let command): perform(command, now: now, into: &outbox)
    }
    runTimers(now, into: &outbox)
    outbox.nextDeadline = timers.next?.time ?? .distantFuture
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
    for index in videos.indices { videos[index].end() }
    for index in sounds.indices { sounds[index].end() }
    earlyCandidates = []
    early = nil
    earlyHandshake = EarlyHandshake()
    srtp = nil
    dtls = nil
  }

  var isEnded: Bool { if case .ended = state { true } else { false } }
}

extension SendStreamIdentity {
  /// The first of a peer, with its name.
  init(using random: inout SeededGenerator) {
    self.init(
      ssrc: SSRC(UInt32(truncatingIfNeeded: random.next())), rtxSSRC: SSRC(UInt32(truncatingIfNeeded: random.next())),
      cname: String(random.next(), radix: 36),
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())),
      firstPictureID: UInt16(truncatingIfNeeded: random.next()) & 0x7FFF)
  }
}
