import RTCEngine
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// The media connection of one call: negotiates with the signals of both sides, sends our tracks, and makes tracks of
/// the received media.
final class CallConnection: Sendable {
  enum Event: Sendable {
    case connected
    /// Nothing arrives at present; another route is being searched.
    case interrupted
    /// The remote peer ended it.
    case closed
    /// No route to the remote peer was found, or the last one was lost.
    case lost(String)
    /// The two sides do not fit together.
    case failed(String)
    case warning(String)
    case dataChannel(DataChannel)
    case reception(Reception.Event)
  }

  /// The kinds of tracks that we send.
  struct Sending: OptionSet, Sendable {
    var rawValue: Int
    static let audio = Sending(rawValue: 1)
    static let video = Sending(rawValue: 2)
  }

  let party: CallParty
  let connection: PeerConnection
  private let role: CallRole
  private let media: LocalMedia
  /// Labels of channels that the caller opens.
  private let channels: [String]
  private let reception: Reception
  private let report: @Sendable (Event) async -> Void
  private let send: @Sendable (MediaSignal) async -> Void
  private let signals: AsyncStream<MediaSignal>
  private let signalSink: AsyncStream<MediaSignal>.Continuation
  /// Our tracks that are sent.
  private let sent = Mutex<[MediaKind: TransceiverID]>([:])
  /// Why no offer goes out yet; never empty before the first.
  private let holds: Mutex<Set<Hold>>
  /// When the first description went or came.
  private let begun = Mutex<Timestamp?>(nil)
  /// Our candidates on their way to the remote peer.
  private let trickle = Mutex(TrickleQueue())
  /// The last that we made.
  private let lastOffer = Mutex<Description?>(nil)
  private let restarts: Mutex<RestartSchedule>
  private let alarm = Mutex<Task<Void, Never>?>(nil)
  /// The connection has been established at least once.
  private let isEstablished = Atomic(false)

  private enum Hold {
    /// Our first tracks are being added.
    case setUp
    /// The application gathers changes.
    case batch
  }

  /// - Parameters:
  ///   - isHeld: whether the connection begins within an application's batch of changes.
  ///   - send: sends our descriptions and candidates to the remote peer.
  ///   - report: called in order; the next event waits for its return.
  init(
    _ party: CallParty, _ role: CallRole, _ configuration: CallConfiguration, media: LocalMedia, codecs: CodecRegistry,
    loudspeaker: Loudspeaker, peers: PeerLoop, isHeld: Bool, send: @escaping @Sendable (MediaSignal) async -> Void,
    report: @escaping @Sendable (Event) async -> Void
  ) {
    restarts = Mutex(RestartSchedule(role: role))
    self.send = send
    holds = Mutex(isHeld ? [.setUp, .batch] : [.setUp])
    self.party = party
    self.role = role
    self.media = media
    channels = configuration.dataChannels
    self.report = report
    reception = Reception(loudspeaker: loudspeaker) { await report(.reception($0)) }
    // More signals never wait with an honest peer.
    (signals, signalSink) = AsyncStream.makeStream(
      of: MediaSignal.self, bufferingPolicy: .bufferingOldest(PeerLimits.waitingSignals))
    var options = PeerConnection.Configuration()
    options.videoFormats = media.outgoing.videoFormats
    options.receivableFormats = codecs.receivableFormats
    options.remotePeer = party.peer
    options.videoDecoders = codecs.videoDecoders
    options.audioDecoder = codecs.audioDecoderOfPeer
    options.bitrates = configuration.video
    options.audioBitrates = configuration.audio
    options.record(configuration.rateControl, in: configuration.rateLog)
    options.connectTimeout = configuration.connectionTimeout
    options.iceServers = configuration.iceServers
    options.iceTransportPolicy = configuration.iceTransportPolicy
    connection = PeerConnection(on: peers, configuration: options)
  }

  /// Takes a signal of the remote peer about the connection. Signals are handled in order.
  func take(_ signal: MediaSignal) { signalSink.yield(signal) }

  func close() async {
    signalSink.finish()
    await connection.close()
  }

  /// Runs until the connection ends.
  /// - Parameter sending: the tracks to send at first.
  func run(sending: Sending) async {
    let following = Task { await self.follow() }
    do {
      // The callee adds its tracks to the caller's offer instead of making an offer too.
      await connection.startConfiguration()
      try await begin(sending)
    } catch {
      await report(.failed("\(error)"))
    }
    if role == .caller { await release(.setUp) }
    let negotiation = PerfectNegotiation(connection, isPolite: role == .callee) { [self] description in
      await tell(description)
    }
    var isFirst = true
    for await signal in signals {
      switch signal {
      case .description(let kind, let sdp):
        guard let kind = Description.Kind(rawValue: kind) else { continue }
        noteDescription()
        await receive(Description(kind: kind, sdp: sdp), negotiation, isFirst: isFirst)
        if isFirst, role == .callee { await release(.setUp) }
        isFirst = false
      case .streams(let streams): await reception.note(streams)
      case .candidate(let candidate): await receive(candidate, negotiation)
      }
    }
    await following.value
    negotiation.stop()
  }

  /// Until `commitConfiguration`, no offer goes out.
  func startConfiguration() async {
    holds.withLock { _ = $0.insert(.batch) }
    await connection.startConfiguration()
  }

  func commitConfiguration() async { await release(.batch) }

  private func release(_ hold: Hold) async {
    guard holds.withLock({ $0.remove(hold) != nil && $0.isEmpty }) else { return }
    await connection.commitConfiguration()
  }

  private func receive(_ description: Description, _ negotiation: PerfectNegotiation, isFirst: Bool) async {
    // The second answer to an offer that was said twice.
    if description.kind == .answer, await connection.signalingState == .stable { return }
    do { try await negotiation.receive(description) } catch {
      let sentence = (error as? NegotiationFailure)?.sentence ?? "\(error)"
      await report(isFirst ? .failed(sentence) : .warning("A change by \(party.peer) was refused: \(sentence)"))
    }
  }

  private func receive(_ candidate: ICECandidateInit?, _ negotiation: PerfectNegotiation) async {
    // A candidate that cannot be parsed is skipped.
    try? await negotiation.receive(candidate ?? ICECandidateInit(candidate: ""))
  }

  private func noteDescription() { begun.withLock { $0 = $0 ?? MonotonicClock.now() } }

  private func tell(_ description: Description) async {
    noteDescription()
    if description.kind == .offer { lastOffer.withLock { $0 = description } }
    await send(.description(kind: description.kind.rawValue, sdp: description.sdp))
    for candidate in trickle.withLock({ $0.sent(description.sdp) }) { await tell(candidate) }
  }

  private func tell(_ candidate: ICECandidateInit) async {
    await send(.candidate(candidate.candidate.isEmpty ? nil : candidate))
  }

  // MARK: - When the way breaks

  /// This machine has other addresses than before.
  func networkChanged() {
    // A connection that is still being set up accepts candidates as they arrive.
    guard isEstablished.load(ordering: .relaxed) else { return }
    restarts.withLock { $0.networkChanged(now: MonotonicClock.now()) }
    setAlarm()
  }

  /// The hub is back.
  func signalingReturned() {
    restarts.withLock { $0.signalingReturned(now: MonotonicClock.now()) }
    setAlarm()
  }

  private func setAlarm() {
    let deadline = restarts.withLock { $0.deadline }
    alarm.withLock { alarm in
      alarm?.cancel()
      alarm = deadline.map { deadline in
        let wait = max(0, (deadline - MonotonicClock.now()).nanoseconds)
        return Task { [weak self] in
          guard (try? await Task.sleep(for: .nanoseconds(wait))) != nil else { return }
          await self?.takeStep()
        }
      }
    }
  }

  private func takeStep() async {
    let isOffering = await connection.signalingState == .haveLocalOffer
    switch restarts.withLock({ $0.step(isOffering: isOffering, now: MonotonicClock.now()) }) {
    case .restart: await connection.restartICE()
    case .repeatOffer:
      guard let offer = lastOffer.withLock({ $0 }) else { break }
      let candidates = trickle.withLock { $0.followers }
      await send(.description(kind: offer.kind.rawValue, sdp: offer.sdp))
      for candidate in candidates { await tell(candidate) }
    case nil: break
    }
    setAlarm()
  }

  /// From the first description to the first picture decoded; nil before.
  var firstPictureDelay: TimeDelta? {
    guard let begun = begun.withLock({ $0 }), let first = reception.firstPicture else { return nil }
    return first - begun
  }

  // MARK: - Sending

  /// The caller offers all media; the callee adds its tracks to the media that are offered.
  private func begin(_ sending: Sending) async throws {
    if role == .caller {
      let audio = sending.contains(.audio) ? media.audioTrack.map { OutgoingTrack.audio($0) } : nil
      let video = sending.contains(.video) ? OutgoingTrack.video(media.videoTrack) : nil
      let first = try await connection.addTransceiver(
        .audio, direction: audio == nil ? .recvonly : .sendrecv, track: audio)
      let second = try await connection.addTransceiver(
        .video, direction: video == nil ? .recvonly : .sendrecv, track: video)
      sent.withLock { sent in
        sent[.audio] = audio == nil ? nil : first
        sent[.video] = video == nil ? nil : second
      }
      for label in channels { await report(.dataChannel(try await connection.createDataChannel(label))) }
    } else {
      await add(sending)
    }
  }

  /// Sends more from now on.
  func add(_ sending: Sending) async {
    if sending.contains(.audio), let track = media.audioTrack { await add(.audio(track)) }
    if sending.contains(.video) { await add(.video(media.videoTrack)) }
  }

  private func add(_ track: OutgoingTrack) async {
    guard sent.withLock({ $0[track.kind] }) == nil, let id = try? await connection.addTrack(track) else { return }
    sent.withLock { $0[track.kind] = id }
  }

  /// Sends less from now on.
  func remove(_ sending: Sending) async {
    let kinds: [MediaKind] = (sending.contains(.audio) ? [.audio] : []) + (sending.contains(.video) ? [.video] : [])
    for kind in kinds {
      guard let id = sent.withLock({ $0.removeValue(forKey: kind) }) else { continue }
      try? await connection.removeTrack(id)
    }
  }

  // MARK: - Receiving

  private func follow() async {
    var stage = Stage.connecting
    await reception.follow(connection) { event in
      switch event {
      case .stateChanged(.connected), .connectivityChanged(.good): await restored(&stage, event)
      case .stateChanged(.disconnected), .connectivityChanged(.silent), .connectivityChanged(.lost):
        await interrupted(&stage)
      case .stateChanged(.ended(let reason)):
        await report(end: reason, wasConnected: stage != .connecting)
      case .localCandidate(let candidate):
        for ready in trickle.withLock({ $0.found(candidate) }) { await tell(ready) }
      case .dataChannelOpened(let channel): await report(.dataChannel(channel))
      default: break
      }
    }
    restarts.withLock { $0.end() }
    setAlarm()
    signalSink.finish()
  }

  private enum Stage {
    case connecting, connected, interrupted
  }

  private func interrupted(_ stage: inout Stage) async {
    guard stage == .connected else { return }
    stage = .interrupted
    await report(.interrupted)
    restarts.withLock { $0.interrupted(now: MonotonicClock.now()) }
    setAlarm()
  }

  private func restored(_ stage: inout Stage, _ event: PeerConnectionEvent) async {
    // Checks are answered before the handshake is done.
    if stage == .connecting { guard case .stateChanged = event else { return } }
    guard stage != .connected else { return }
    stage = .connected
    isEstablished.store(true, ordering: .relaxed)
    restarts.withLock { $0.restored() }
    setAlarm()
    await report(.connected)
  }

  private func report(end reason: EndReason, wasConnected: Bool) async {
    switch reason {
    case .closedLocally: break
    case .closedRemotely: await report(.closed)
    case .unreachable, .tooCostly: await report(.lost(reason.sentence))
    // The call's own patience ends at the same moment.
    case .timedOut: break
    case .fingerprintMismatch, .handshakeFailed:
      await report(wasConnected ? .lost(reason.sentence) : .failed(reason.sentence))
    }
  }
}

extension EndReason {
  /// For a person.
  var sentence: String {
    switch self {
    case .closedLocally: "it was closed here."
    case .closedRemotely: "the remote peer closed it."
    case .unreachable(let tried): "no route was found (\(tried)); check the network."
    case .fingerprintMismatch:
      "the remote peer's certificate is not the one it announced; the connection may be intercepted."
    case .handshakeFailed(let why): "the secure handshake failed (\(why))."
    case .timedOut: "no connection was established in time; does a firewall block UDP?"
    case .tooCostly: "packets from the remote peer took more than its share of the processor, and it was disconnected."
    }
  }
}
