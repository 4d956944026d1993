public import RTCEngine
import RTCICE
public import RTCMedia
import RTCNet
public import RTCPrimitives
public import RTCSCTP
import RTCWire

/// A connection to one remote peer, shaped as W3C WebRTC has it. It lives on the loop's thread; every call hops there once.
public actor PeerConnection {
  /// The configuration of a connection.
  public struct Configuration: Sendable {
    /// A video to begin with, if any; more by `addTrack`.
    public var video: OutgoingVideoTrack?
    /// The formats of all sent video, the best first; see `PeerConfiguration.OutgoingVideo.codecs`.
    public var videoFormats = [VideoPayloadFormat.vp8]
    /// The formats of received video, the best first.
    public var receivableFormats = [VideoPayloadFormat.vp8]
    /// A transceiver to begin with takes the remote peer's video.
    public var receivesVideo = false
    /// A sound to begin with, if any; played in step with the video.
    public var audio: OutgoingAudioTrack?
    /// A transceiver to begin with takes the remote peer's sound.
    public var receivesAudio = false
    /// The Opus parameters of all audio in descriptions.
    public var opus = PeerConfiguration.OpusParameters()
    /// Nil: no data channels; the remote peer's m-section for them is rejected.
    public var dataChannels: DataChannelOptions? = DataChannelOptions()
    /// The bitrate limits of all video together.
    public var bitrates = BitrateLimits()
    /// The bitrate limits of each sent audio.
    public var audioBitrates = BitrateLimits.audio
    /// How the bitrate follows the network.
    public var rateControl = RateControlAlgorithm.gcc
    /// Makes what takes every feedback and every decision about the bitrate; see `PeerConfiguration.rateLog`. Called once, on
    /// the loop's thread.
    package var rateLog: (@Sendable (_ connection: String) -> RateLogEntry.Sink)?
    /// The application's name for the remote peer; its tracks carry it.
    public var remotePeer = ""
    /// The decoders for received video, by codec.
    public var videoDecoders: [VideoCodec: VideoDecoderFactory] = [:]
    /// The decoder for received audio; nil: audio can be forwarded and recorded, but not played.
    public var audioDecoder: AudioDecoderFactory?
    /// STUN and TURN servers, beside the loop's. Connections of one port share them: one allocation serves all.
    public var iceServers: [ICEServer] = []
    /// The address from which the remote peer's offer came, if known. Addresses of interfaces that do not lead there
    /// are not offered; see `PeerLoop.Options.interfaces`.
    public var remoteAddress: IPAddress?
    /// The kinds of candidates that are offered and used.
    public var iceTransportPolicy = ICETransportPolicy.all
    /// The first key-frame request of each rest is let pass; see `PeerConfiguration.ignoresRedundantPLI`.
    public var ignoresRedundantPLI = true
    /// Whether the connection has a UDP port of its own. Needed in a client's role, as two connections to one port of a
    /// server could not be distinguished.
    public var ownsPort = false
    /// Time from the first description to a finished handshake; then the connection ends by itself.
    public var connectTimeout = TimeDelta.seconds(15)
    /// Time from the first description to the first authentic sign of the remote peer; see
    /// `PeerConfiguration.firstContactTimeout`.
    public var firstContactTimeout: TimeDelta?

    /// - Parameters:
    ///   - video: the video to send; nil: none.
    ///   - audio: the audio to send; nil: none.
    public init(video: OutgoingVideoTrack? = nil, audio: OutgoingAudioTrack? = nil) {
      self.video = video
      self.audio = audio
    }
  }

  /// Different for each connection of the process.
  public nonisolated let id: String
  /// Events in order; ends after `.stateChanged(.ended)`. For one reader.
  public nonisolated let events: AsyncStream<PeerConnectionEvent>

  let loop: PeerLoop
  let configuration: Configuration
  /// STUN and TURN servers beside the loop's.
  var iceServers: [ICEServer]
  private var restartedAt = Timestamp.zero
  var gatheringWaiters: [GatheringWaiter] = []
  private let credentials: ICECredentials
  private let continuation: AsyncStream<PeerConnectionEvent>.Continuation
  private(set) var slot: PeerSlot?
  /// Sent tracks, by transceiver.
  var outgoing: [TransceiverID: OutgoingTrack] = [:]
  /// Received tracks, by transceiver.
  private var remoteTracks: [TransceiverID: RemoteTrack] = [:]
  let dataChannels: DataChannelTable
  /// Makes offers and answers by itself, if there is one.
  var negotiator: Negotiator?

  /// The loop's thread: calls go there once, packets never leave it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.events.asUnownedSerialExecutor() }

  /// The reason why there was no connection before the end.
  var lastDiagnosis: ConnectionDiagnosis?

  /// Makes a connection. Nothing is sent before a description is set.
  public init(on loop: PeerLoop, configuration: Configuration = Configuration()) {
    self.loop = loop
    self.configuration = configuration
    iceServers = configuration.iceServers
    var random = SystemRandomNumberGenerator()
    credentials = ICECredentials(using: &random)
    id = [random.next(), random.next()].map { String($0, radix: 36) }.joined()
    dataChannels = DataChannelTable(options: configuration.dataChannels ?? DataChannelOptions())
    (events, continuation) = AsyncStream.makeStream(
      of: PeerConnectionEvent.self, bufferingPolicy: .bufferingNewest(1_024))
  }

  // MARK: - Media and life

  /// New bounds for the bitrate of all video we send.
  public func setBitrates(_ limits: BitrateLimits) { _ = try? perform(.setBitrateLimits(limits)) }

  /// Asks the remote sender for a key frame, of every video or of this one.
  public func requestKeyFrame(_ transceiver: TransceiverID? = nil) { _ = try? perform(.requestKeyFrame(transceiver)) }

  /// Says goodbye and ends. Calling it again does nothing.
  public func close() { _ = try? perform(.close) }

  /// The statistics of the connection; zeros once closed.
  public func statistics() -> PeerStatistics {
    guard let slot else { return PeerStatistics() }
    var statistics = slot.peer.statistics
    for transceiver in slot.peer.transceivers {
      guard case .video(let track)? = outgoing[transceiver.id] else { continue }
      let rung = track.rung(of: TrackSender(slot: slot, transceiver: transceiver.id))
      (statistics.rung, statistics.rungReason) = (rung?.number, rung?.reason)
      break
    }
    return statistics
  }

  /// The video clock (`Peer.videoClock`); nil before a video was negotiated.
  package func videoClock() -> RTPTimestamp? { slot?.peer.videoClock }

  /// The remote peer agreed to data channels.
  package func hasDataChannels() -> Bool { slot?.peer.hasDataChannels ?? false }

  // MARK: - On the loop

  /// Executes a command and returns its result.
  @discardableResult
  func perform(_ command: Command) throws -> CommandResult {
    do { return try makeSlot().perform(command, now: MonotonicClock.now()) } catch {
      if let failure = error as? NegotiationFailure, failure.kind == .malformed { loop.refusals.count(.description) }
      if error is TooManyPeers { loop.refusals.count(.session) }
      throw error
    }
  }

  func makeSlot() throws -> PeerSlot {
    if let slot { return slot }
    let table = loop.table
    guard !table.isFull else { throw TooManyPeers(limit: loop.options.maximumPeers) }
    let sockets = configuration.ownsPort ? try table.makeSockets(now: MonotonicClock.now()) : table.sharedSockets
    let new = PeerSlot(
      peer: Peer(peerConfiguration(sockets)), ufrag: credentials.usernameFragment, sockets: sockets,
      remoteAddress: configuration.remoteAddress, table: table,
      onEvent: { [weak self] event in
        // Events come out of a step, which runs on this actor's own executor.
        self?.assumeIsolated { $0.handle(event) }
      })
    new.onCandidates = { [weak self] hasLost in self?.assumeIsolated { $0.candidatesChanged(hasLost: hasLost) } }
    table.insert(new)
    if !iceServers.isEmpty { table.setICEServers(iceServers, of: new) }
    for transceiver in new.peer.transceivers {
      switch transceiver.kind {
      case .video: outgoing[transceiver.id] = configuration.video.map { .video($0) }
      case .audio: outgoing[transceiver.id] = configuration.audio.map { .audio($0) }
      }
    }
    slot = new
    return new
  }

  private func peerConfiguration(_ sockets: ICESockets) -> PeerConfiguration {
    var peer = PeerConfiguration(
      localAddresses: [], certificate: loop.certificate, iceCredentials: credentials,
      seed: UInt64.random(in: .min ... .max))
    peer.waitingMemory = loop.waitingMemory
    peer.localCandidates = sockets.candidates(towards: configuration.remoteAddress)
    peer.isGatheringComplete = sockets.isComplete
    peer.iceTransportPolicy = loop.options.iceTransportPolicy == .relay ? .relay : configuration.iceTransportPolicy
    if let track = configuration.video {
      var video = PeerConfiguration.OutgoingVideo()
      (video.streamID, video.trackID) = (track.name.streamID, track.name.trackID)
      video.codecs = configuration.videoFormats
      peer.sendsVideo = video
    }
    peer.receivesVideo = configuration.receivesVideo
    if let track = configuration.audio {
      var audio = PeerConfiguration.OutgoingAudio(opus: configuration.opus)
      (audio.streamID, audio.trackID) = (track.name.streamID, track.name.trackID)
      peer.sendsAudio = audio
    }
    peer.receivesAudio = configuration.receivesAudio
    peer.sendableVideo = configuration.videoFormats
    peer.receivableVideo = configuration.receivableFormats
    peer.opus = configuration.opus
    peer.dataChannels = configuration.dataChannels
    peer.bitrates = configuration.bitrates
    peer.audioBitrates = configuration.audioBitrates
    peer.makeEstimator = configuration.rateControl.makeEstimator
    peer.rateLog = configuration.rateLog?(id)
    peer.ignoresRedundantPLI = configuration.ignoresRedundantPLI
    peer.connectTimeout = configuration.connectTimeout
    peer.firstContactTimeout = configuration.firstContactTimeout
    peer.wallClockOffset = TimeDelta(nanoseconds: WallClock.now() - MonotonicClock.now().nanoseconds)
    return peer
  }

  // MARK: - Events

  private func handle(_ event: Event) {
    switch event {
    case .frameReceived(let frame, let id):
      if case .video(let track)? = remoteTracks[id] { track.deliver(frame) }
    case .audioReceived(let packet, let id):
      if case .audio(let track)? = remoteTracks[id] { track.deliver(packet) }
    case .dataChannel:
      if let slot, let channel = dataChannels.handle(event, of: slot, on: loop.events) {
        continuation.yield(.dataChannelOpened(channel))
      }
    case .senderClockChanged(let clock, let id): remoteTracks[id]?.note(clock)
    case .keyFrameRequested(let reason, let id):
      if case .video(let track)? = outgoing[id], let slot {
        track.keyFrameRequested(by: TrackSender(slot: slot, transceiver: id), reason)
      }
    case .audioLossReported(let loss, let id):
      if case .audio(let track)? = outgoing[id], let slot {
        track.lossReported(loss, by: TrackSender(slot: slot, transceiver: id))
      }
    case .opusPreferencesChanged(let preferences, let id):
      if case .audio(let track)? = outgoing[id], let slot {
        track.preferencesChanged(preferences, of: TrackSender(slot: slot, transceiver: id))
      }
    case .stateChanged(let state):
      switch state {
      case .ended:
        lastDiagnosis = diagnosis()
        letGo()
      case .connected: reachabilityChanged(true)
      case .disconnected: reachabilityChanged(false)
      case .new, .connecting: break
      }
      continuation.yield(.stateChanged(state))
      if case .ended = state { continuation.finish() }
    case .signalingStateChanged(let state): continuation.yield(.signalingStateChanged(state))
    case .negotiationNeeded:
      continuation.yield(.negotiationNeeded)
      offerSoon()
    case .trackAdded(let track): add(track)
    case .trackRemoved(let track): remove(track)
    case .sendingStarted(let id):
      if let slot { outgoing[id]?.attach(TrackSender(slot: slot, transceiver: id)) }
      continuation.yield(.sendingStarted(id))
    case .sendingStopped(let id):
      if let slot { outgoing[id]?.detach(TrackSender(slot: slot, transceiver: id)) }
      continuation.yield(.sendingStopped(id))
    case .targetBitrateChanged(let rate, let id):
      bitrateChanged(rate, of: id)
      continuation.yield(.targetBitrateChanged(rate, id))
    case .audioTargetBitrateChanged(let rate, let id):
      bitrateChanged(rate, of: id)
      continuation.yield(.audioTargetBitrateChanged(rate, id))
    case .localCandidateGathered(let candidate): continuation.yield(.localCandidate(candidate))
    case .connectivityChanged(let connectivity):
      continuation.yield(.connectivityChanged(connectivity))
      if connectivity != .good { restartIfDue() }
    case .candidateNameNeedsResolving(let name):
      loop.table.multicastNames.resolve(name, now: MonotonicClock.now()) { [weak self] address in
        self?.assumeIsolated { _ = try? $0.perform(.resolvedCandidate(name, address)) }
      }
    case .usernameFragmentAdded: break  // the table's
    }
  }

  /// Browsers follow to another pair only where that is better, or by a restart.
  private func candidatesChanged(hasLost: Bool) {
    wakeWhenGathered()
    if hasLost, slot?.peer.statistics.selectedRoute != nil { restartIfDue() }
  }

  /// A restart that has just begun will find any route; another would only start it again.
  private func restartIfDue() {
    let now = MonotonicClock.now()
    guard negotiator != nil, now - restartedAt >= .seconds(5) else { return }
    restartedAt = now
    restartICE()
  }

  private func bitrateChanged(_ rate: BitRate, of id: TransceiverID) {
    if let slot { outgoing[id]?.bitrateChanged(rate, of: TrackSender(slot: slot, transceiver: id)) }
  }

  private func reachabilityChanged(_ isReachable: Bool) {
    guard let slot else { return }
    for (id, track) in outgoing {
      track.reachabilityChanged(isReachable, of: TrackSender(slot: slot, transceiver: id))
    }
  }

  private func add(_ description: RemoteTrackDescription) {
    let id = description.transceiver
    let statistics: @Sendable () async -> StreamStatistics.Reception? = { [weak self] in
      await self?.statistics().streams.first { $0.transceiver == id }?.reception
    }
    let new: RemoteTrack
    switch description.kind {
    case .audio:
      new = .audio(
        RemoteAudioTrack(
          description, of: configuration.remotePeer, decoder: configuration.audioDecoder, statistics: statistics))
    case .video:
      let events = loop.events
      let ask: @Sendable () -> Void = { [weak self] in
        events.post { [weak self] in self?.assumeIsolated { $0.requestKeyFrame(id) } }
      }
      new = .video(
        RemoteVideoTrack(
          description, of: configuration.remotePeer, decoders: configuration.videoDecoders, ask: ask,
          onLoop: { events.post($0) }, statistics: statistics))
    }
    remoteTracks[id] = new
    continuation.yield(.trackAdded(new))
  }

  private func remove(_ description: RemoteTrackDescription) {
    guard let old = remoteTracks.removeValue(forKey: description.transceiver) else { return }
    old.end()
    continuation.yield(.trackRemoved(old))
  }

  /// The connection has ended.
  private func letGo() {
    if let slot {
      for (id, track) in outgoing { track.detach(TrackSender(slot: slot, transceiver: id)) }
    }
    for track in remoteTracks.values { track.end() }
    remoteTracks = [:]
    wakeWhenGathered(isOver: true)
    negotiator?.end()
    negotiator = nil
  }
}

/// A call that cannot be meant; the sentence says what to do instead.
package struct APIMisuse: Error, CustomStringConvertible, Sendable {
  /// The misuse, for the programmer.
  package let description: String
  init(_ sentence: String) { description = sentence }
}

/// The loop has as many peers as it may.
package struct TooManyPeers: Error, CustomStringConvertible, Sendable {
  /// The maximum number of peers of a loop.
  package let limit: Int
  /// A sentence for a person.
  package var description: String { "There are already \(limit) peers; try again when some have left." }
}
