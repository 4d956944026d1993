import RTCEngine
public import RTCMedia
package import RTCNet
public import RTCPeer
import RTCPrimitives
public import RTCSignaling

/// Calls: registers at a signaling server, rings, answers, joins rooms, sends recorded media and plays received media.
///
///     let calls = try CallManager.initialize(signalingServer: HubSignaling(hub, name: "alice"), audioDevice: device)
///     _ = try await calls.setupConnection()
///     try await calls.startRecording()
///     try await calls.sendCallRequest(to: "bob")
///     for await event in calls.events { … }
///
/// One call at a time outside rooms; any number in rooms. Methods may be called from any thread.
///
/// When nothing references the manager any more, its calls end as by `disconnect()`.
public actor CallManager: SignalingServerDelegate {
  /// Events from the first call on, in order. For one reader; a reader that is more than 4,096 events behind loses the
  /// oldest.
  public nonisolated let events: AsyncStream<CallEvent>
  /// The configuration given to `initialize`.
  public nonisolated let configuration: CallConfiguration

  let signaling: any SignalingServerConnection
  let codecs: CodecRegistry
  let peers: PeerLoop
  let audioDevice: (any AudioDevice)?
  private let loudspeaker: Loudspeaker
  let media: LocalMedia
  let continuation: AsyncStream<CallEvent>.Continuation
  weak var delegate: (any CallManagerDelegate)?
  var board: Switchboard?
  /// Events of the server that arrived before our own name was known.
  private var early: [SignalingEvent] = []
  var connections: [Switchboard.Line: CallConnection] = [:]
  var rooms: [String: Room] = [:]
  /// The capturer and track of the video being sent.
  var video: (source: any VideoCapturer, track: LocalVideoTrack)?
  var audio: (source: any AudioSource, track: LocalAudioTrack)?
  /// Between `startConfiguration` and `commitConfiguration`.
  var isConfiguring = false
  /// Connections that are saying goodbye.
  private var closing: Task<Void, Never>?
  /// `disconnect` was called: nothing is left to end.
  private var isDisconnected = false
  /// STUN and TURN servers that the signaling server names.
  private var advertisedServers: [ICEServer] = []
  /// The call outside rooms had started before it broke.
  private var isReconnecting = false
  /// The media plane is ours alone.
  private let ownsPeers: Bool
  private var alarm: Task<Void, Never>?
  /// From `setupConnection` to `disconnect`.
  private var network: NetworkWatch?
  /// Signaling messages, sent one after the other.
  private let outgoing: AsyncStream<Outgoing>.Continuation
  private let sending: Task<Void, Never>

  enum Outgoing: Sendable {
    case signal(CallSignal, to: PeerID)
    case candidate(CandidateSignal, to: PeerID)
    case end(String, to: PeerID)
    case join(String)
    case leave(String)
    case followPeers
    case goodbye
  }

  /// - Parameters:
  ///   - signalingServer: the way to other peers; `HubSignaling`, or an application's own.
  ///   - config: bitrates, time-outs and other settings; may come from JSON.
  ///   - audioDevice: microphone and loudspeaker; nil: received sound is available by `RemoteAudioTrack.add` only.
  ///   - codecs: encoders and decoders.
  ///   - peers: the media plane, which broadcasts may share; nil opens one.
  /// - Throws: if no media plane can be opened.
  public static func initialize(
    signalingServer: any SignalingServerConnection, config: CallConfiguration = CallConfiguration(),
    audioDevice: (any AudioDevice)? = nil, codecs: CodecRegistry = .standard, peers: PeerLoop? = nil
  ) throws -> CallManager {
    CallManager(
      signalingServer, config, audioDevice ?? SilentAudioDevice(), codecs, try peers ?? PeerLoop(),
      ownsPeers: peers == nil)
  }

  private init(
    _ signaling: any SignalingServerConnection, _ configuration: CallConfiguration, _ audioDevice: any AudioDevice,
    _ codecs: CodecRegistry, _ peers: PeerLoop, ownsPeers: Bool
  ) {
    self.ownsPeers = ownsPeers
    self.signaling = signaling
    self.configuration = configuration
    self.audioDevice = audioDevice
    loudspeaker = Loudspeaker(audioDevice)
    self.codecs = codecs
    self.peers = peers
    let (events, continuation) = AsyncStream.makeStream(of: CallEvent.self, bufferingPolicy: .bufferingNewest(4_096))
    (self.events, self.continuation) = (events, continuation)
    media = LocalMedia(configuration, codecs: codecs, peers: peers) { event in
      switch event {
      case .ended(.finished): continuation.yield(.sourceEnded(sentence: nil))
      case .ended(.lost(let sentence)): continuation.yield(.sourceEnded(sentence: sentence))
      case .warning(let sentence): continuation.yield(.warning(sentence))
      }
    }
    let (stream, outgoing) = AsyncStream.makeStream(
      of: Outgoing.self, bufferingPolicy: .bufferingOldest(PeerLimits.waitingMessages))
    self.outgoing = outgoing
    sending = Task { for await message in stream { await Self.send(message, by: signaling) } }
  }

  deinit {
    alarm?.cancel()
    for room in rooms.values { room.finish() }
    guard !isDisconnected else { return continuation.finish() }
    let connections = [CallConnection](connections.values)
    let goodbyes = Self.goodbyes(of: board, rooms: rooms.keys.sorted())
    let (closing, sending, outgoing) = (closing, sending, outgoing)
    let (media, loudspeaker, network, continuation) = (media, loudspeaker, network, continuation)
    let peers = ownsPeers ? peers : nil
    // Not here: the last holder may be in the middle of one of the source's frames, and stopping waits for that.
    Task {
      for message in goodbyes { outgoing.yield(message) }
      await closing?.value
      for connection in connections { await connection.close() }
      media.stop()
      loudspeaker.stop()
      network?.stop()
      outgoing.finish()
      await sending.value
      continuation.finish()
      peers?.stop()
    }
  }

  /// The messages that end all calls, leave the rooms and close the signaling connection; none before
  /// `setupConnection`.
  private static func goodbyes(of board: Switchboard?, rooms: [String]) -> [Outgoing] {
    guard var board else { return [] }
    var messages: [Outgoing] = []
    for input in [.hangUp] + rooms.map({ Switchboard.Input.leave($0) }) {
      for action in board.handle(input, now: MonotonicClock.now()) {
        switch action {
        case .line(_, .send(let signal, let peer)): messages.append(.signal(signal, to: peer))
        case .line(_, .hangUp(let peer, let call)): messages.append(.end(call, to: peer))
        case .leave(let room): messages.append(.leave(room))
        default: break
        }
      }
    }
    return messages + [.goodbye]
  }

  private static func send(_ message: Outgoing, by signaling: any SignalingServerConnection) async {
    switch message {
    case .signal(let signal, let peer): await signaling.sendSignal(Array(signal.json.utf8), to: peer)
    case .candidate(let candidate, let peer): await signaling.sendICECandidate(Array(candidate.json.utf8), to: peer)
    case .end(let call, let peer): await signaling.sendEndCall(call, to: peer)
    case .join(let room): await signaling.join(room: room)
    case .leave(let room): await signaling.leave(room: room)
    case .followPeers: await signaling.followPeers()
    case .goodbye: await signaling.disconnect()
    }
  }

  /// Sets the receiver of events, in addition to `events`; held weakly.
  public func setCallManagerDelegate(_ delegate: (any CallManagerDelegate)?) { self.delegate = delegate }

  // MARK: - Signaling

  /// Connects to the signaling server and registers.
  /// - Returns: the name by which others call this peer.
  public func setupConnection() async throws(CallManagerError) -> PeerID {
    guard board == nil else { throw .misuse("The connection is set up already.") }
    await signaling.setDelegate(self)
    // The first offer lists the decodable formats, which may load libraries. Do that now, not when a call begins.
    Task.detached { [codecs] in _ = codecs.receivableFormats }
    let me: PeerID
    do { me = try await signaling.connect() } catch {
      throw .signaling("\(error)", (error as? HubClientError).map { .init($0.fault) } ?? .unreachable)
    }
    var options = CallMachine.Options()
    options.connectTimeout = configuration.connectionTimeout
    options.ringTimeout = configuration.ringTimeout
    board = Switchboard(me: me, options: options, seed: UInt64.random(in: .min ... .max))
    let events = early
    early = []
    for event in events { await signalingServer(event) }
    watchNetwork()
    return me
  }

  /// Lets the signaling server know when the network goes and comes back.
  private func watchNetwork() {
    // Without the kernel's word it finds out by itself, later.
    network = try? NetworkWatch { [weak self] change in
      Task { [weak self] in await self?.note(change) }
    }
  }

  package func note(_ change: NetworkChange) async {
    switch change {
    case .lost: await signaling.onConnectionUnsatisfied()
    case .returned, .changed:
      await signaling.onConnectionSatisfied()
      for connection in connections.values { connection.networkChanged() }
    }
  }

  /// The signaling server names STUN and TURN servers, or fresh credentials for them.
  private func use(_ servers: [ICEServer]) async {
    advertisedServers = servers
    for connection in connections.values {
      await connection.connection.setICEServers(connectionConfiguration.iceServers)
    }
  }

  /// The configuration of new connections.
  private var connectionConfiguration: CallConfiguration {
    var whole = configuration
    whole.iceServers += advertisedServers
    return whole
  }

  /// Our name at the signaling server; nil before `setupConnection`.
  public var peerID: PeerID? { board?.me }

  /// Requests the list of peers at the signaling server and its changes, which arrive as the events `peersPresent`,
  /// `peerArrived` and `peerGone`.
  public func followPeers() async throws(CallManagerError) {
    guard board != nil else { throw Self.notSetUp }
    outgoing.yield(.followPeers)
  }

  /// Ends all calls, stops recording and closes the signaling connection. Returns when goodbyes are out.
  public func disconnect() async {
    _ = await step(.hangUp)
    for room in rooms.keys.sorted() { _ = await step(.leave(room)) }
    await closing?.value
    for connection in connections.values { await connection.close() }
    connections = [:]
    isDisconnected = true
    media.stop()
    loudspeaker.stop()
    outgoing.yield(.goodbye)
    outgoing.finish()
    await sending.value
    alarm?.cancel()
    network?.stop()
    network = nil
    board = nil
    continuation.finish()
    if ownsPeers { peers.stop() }
  }

  /// Called by the signaling connection.
  public func signalingServer(_ event: SignalingEvent) async {
    guard board != nil else {
      if early.count < 1_024 { early.append(event) }
      return
    }
    switch event {
    case .signal(let bytes, let peer):
      _ = await step(.signal(json: String(decoding: bytes, as: UTF8.self), from: peer))
    case .candidate(let bytes, let peer):
      guard let signal = CandidateSignal(json: bytes) else { return }
      _ = await step(.candidate(signal.candidate, from: peer, call: signal.call))
    case .endCall(let peer, let call): _ = await step(.bye(from: peer, call: call))
    case .iceServers(let servers): await use(servers)
    case .refused(let refusal): _ = await step(.refused(refusal))
    case .peers(let room, let peers): _ = await step(.peers(room: room, peers))
    case .peerJoined(let room, let peer): _ = await step(.peerJoined(room: room, peer: peer))
    case .peerLeft(let room, let peer): _ = await step(.peerLeft(room: room, peer: peer))
    case .present(let peers): continuation.yield(.peersPresent(peers))
    case .arrived(let peer): continuation.yield(.peerArrived(peer))
    case .gone(let peer): continuation.yield(.peerGone(peer))
    case .interrupted(let sentence): continuation.yield(.signalingInterrupted(sentence: sentence))
    case .resumed:
      continuation.yield(.signalingResumed)
      for connection in connections.values { connection.signalingReturned() }
    case .ended(let sentence):
      continuation.yield(.signalingEnded(sentence: sentence))
      _ = await step(.signalingEnded(sentence))
    }
  }

  // MARK: - Calls

  /// Calls a peer; what becomes of it comes as events. The peer that rings here is answered by it.
  public func sendCallRequest(to peer: PeerID) async throws(CallManagerError) {
    let wanted = ["audio": true, "video": video != nil]
    try await require(.call(peer, media: wanted))
  }

  /// Takes the call that rings, or rejects it.
  public func answerCallRequest(accept: Bool) async throws(CallManagerError) {
    try await require(.answer(accept: accept))
  }

  /// Hangs up, or stops ringing; stays registered. Calls in rooms continue.
  public func endCall() async { _ = await step(.hangUp) }

  /// The state of the call outside rooms.
  public var state: CallState { board?.state ?? .idle }

  /// Enters a room: every member is connected to every other.
  public func join(room name: String) async throws(CallManagerError) -> Room {
    guard board != nil else { throw Self.notSetUp }
    if let room = rooms[name] { return room }
    let room = Room(name: name, manager: self)
    rooms[name] = room
    _ = await step(.join(name))
    return room
  }

  func leave(room: String) async { _ = await step(.leave(room)) }

  /// Collects changes of the sent media until `commitConfiguration`, in connections that begin meanwhile too: no offer
  /// is sent. Offers of remote peers are answered.
  public func startConfiguration() async {
    isConfiguring = true
    for connection in connections.values { await connection.startConfiguration() }
  }

  /// Changes since `startConfiguration` go out as one offer.
  public func commitConfiguration() async {
    isConfiguring = false
    for connection in connections.values { await connection.commitConfiguration() }
  }

  // MARK: - Steps

  private static let notSetUp = CallManagerError.misuse(
    "Call setupConnection() first; there is no way to other peers yet.")

  /// For inputs that can be misused.
  private func require(_ input: Switchboard.Input) async throws(CallManagerError) {
    guard board != nil else { throw Self.notSetUp }
    if let misuse = await step(input) { throw .misuse("\(misuse)") }
  }

  /// Passes an input to the switchboard and performs its actions.
  func step(_ input: Switchboard.Input) async -> CallMisuse? {
    guard let actions = board?.handle(input, now: MonotonicClock.now()) else { return nil }
    var misuse: CallMisuse?
    for action in actions {
      if case .line(_, .misuse(let what)) = action { misuse = what }
      perform(action)
    }
    setAlarm()
    return misuse
  }

  private func setAlarm() {
    alarm?.cancel()
    guard let deadline = board?.deadline else { return }
    let wait = deadline - MonotonicClock.now()
    alarm = Task { [weak self] in
      guard (try? await Task.sleep(for: .nanoseconds(max(0, wait.nanoseconds)))) != nil else { return }
      _ = await self?.step(.deadline)
    }
  }

  private func perform(_ action: Switchboard.Action) {
    switch action {
    case .line(let line, let action): perform(action, on: line)
    case .join(let room): outgoing.yield(.join(room))
    case .leave(let room):
      outgoing.yield(.leave(room))
      rooms.removeValue(forKey: room)?.finish()
    case .present(let room, let peer): tell(.peerJoined(room: room, peer), room: room)
    case .absent(let room, let peer): tell(.peerLeft(room: room, peer), room: room)
    case .notAdmitted(let room, let sentence):
      tell(.roomRefused(room, sentence: sentence), room: room)
      rooms.removeValue(forKey: room)?.finish()
    }
  }

  private func perform(_ action: CallMachine.Action, on line: Switchboard.Line) {
    switch action {
    case .send(let signal, let peer): outgoing.yield(.signal(signal, to: peer))
    case .hangUp(let peer, let call): outgoing.yield(.end(call, to: peer))
    case .open(let party, let role): open(line, party, role)
    case .pass(let signal): connections[line]?.take(signal)
    case .close:
      guard let connection = connections.removeValue(forKey: line) else { return }
      closing = Task { [closing] in
        await closing?.value
        await connection.close()
      }
    case .state(let state): changed(state, on: line)
    case .muted(let kind, let isMuted):
      guard let peer = connections[line]?.party.peer else { return }
      tell(.remoteMuted(peer, kind: kind, isMuted), room: line.room)
    case .misuse: break
    }
  }

  private func changed(_ state: CallState, on line: Switchboard.Line) {
    if let room = line.room { return tell(.roomCallChanged(room: room, state), room: room) }
    tell(.callChanged(state), room: nil)
    switch state {
    case .ringing(let party, .callee): delegate?.didReceiveIncomingCall(from: party.peer)
    case .connected:
      if !isReconnecting { delegate?.callDidStart() }
      isReconnecting = false
    case .reconnecting: isReconnecting = true
    case .ended(let party, let end):
      isReconnecting = false
      delegate?.callDidEnd(withError: end.isRegular ? nil : .callEnded(end, peer: party.peer))
    case .idle, .ringing, .connecting: break
    }
  }

  // MARK: - Media connections

  private func open(_ line: Switchboard.Line, _ party: CallParty, _ role: CallRole) {
    let (outgoing, media) = (outgoing, media)
    let connection = CallConnection(
      party, role, connectionConfiguration, media: media, codecs: codecs, loudspeaker: loudspeaker, peers: peers,
      isHeld: isConfiguring,
      send: { mediaSignal in
        switch mediaSignal {
        case .description(let kind, let sdp):
          let signal = CallSignal(call: party.call, .description(kind: kind, sdp: sdp), streams: media.streams)
          outgoing.yield(.signal(signal, to: party.peer))
        case .candidate(let candidate):
          outgoing.yield(.candidate(CandidateSignal(call: party.call, candidate: candidate), to: party.peer))
        case .streams: break  // with descriptions, and by `tellStreams`
        }
      },
      report: { [weak self] event in await self?.hear(event, from: party, on: line) })
    connections[line] = connection
    let sending = recorded
    Task { await connection.run(sending: sending) }
  }

  private var recorded: CallConnection.Sending {
    var sending: CallConnection.Sending = []
    if audio != nil { sending.insert(.audio) }
    if video != nil { sending.insert(.video) }
    return sending
  }

  private func hear(_ event: CallConnection.Event, from party: CallParty, on line: Switchboard.Line) async {
    let isCurrent = connections[line]?.party == party
    switch event {
    case .connected: if isCurrent { _ = await step(.connected(line)) }
    case .interrupted: if isCurrent { _ = await step(.connectionInterrupted(line)) }
    case .closed: if isCurrent { _ = await step(.connectionClosed(line)) }
    case .lost(let how): if isCurrent { _ = await step(.connectionLost(line, how)) }
    case .failed(let why): if isCurrent { _ = await step(.connectionFailed(line, why)) }
    case .warning(let sentence): tell(.warning(sentence), room: line.room)
    case .dataChannel(let channel):
      tell(.dataChannel(channel, from: party.peer), room: line.room)
      delegate?.didReceiveDataChannel(channel)
    case .reception(let event): hear(event, on: line)
    }
  }

  private func hear(_ event: Reception.Event, on line: Switchboard.Line) {
    switch event {
    case .warning(let sentence): tell(.warning(sentence), room: line.room)
    case .videoAdded(let track):
      tell(.remoteVideoAdded(track), room: line.room)
      delegate?.didAddRemoteVideoTrack(track)
    case .videoRemoved(let track):
      tell(.remoteVideoRemoved(track), room: line.room)
      delegate?.remoteVideoTrackWasRemoved(track)
    case .videoChanged(let track): tell(.remoteVideoChanged(track), room: line.room)
    case .audioAdded(let track):
      tell(.remoteAudioAdded(track), room: line.room)
      delegate?.didAddRemoteAudioTrack(track)
    case .audioRemoved(let track): tell(.remoteAudioRemoved(track), room: line.room)
    }
  }

  /// Sends remote peers the content of each of our streams (camera or screen).
  func tellStreams() {
    for connection in connections.values {
      let party = connection.party
      outgoing.yield(.signal(CallSignal(call: party.call, .streams, streams: media.streams), to: party.peer))
    }
  }

  func tell(_ event: CallEvent, room: String?) {
    if let room { rooms[room]?.tell(event) }
    continuation.yield(event)
  }

  /// Notifies remote peers that media of this kind is muted or unmuted.
  func tellMuted(_ kind: String, _ isMuted: Bool) {
    for connection in connections.values {
      let party = connection.party
      outgoing.yield(.signal(CallSignal(call: party.call, .mute(kind: kind, isMuted: isMuted)), to: party.peer))
    }
  }
}

extension Switchboard.Line {
  var room: String? { if case .room(let name, _) = self { name } else { nil } }
}
