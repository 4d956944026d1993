public import RTCPrimitives
public import RTCSignaling
public import RTCSignalingNIO

/// The hub as a `SignalingServerConnection`: comes back by itself when the connection breaks, with its name and its rooms.
public actor HubSignaling: SignalingServerConnection {
  private let client: HubClient
  private let name: String?
  private weak var delegate: (any SignalingServerDelegate)?
  private var link = Link.fresh
  private var reading: Task<Void, Never>?
  /// STUN and TURN servers that the hub recommends, with temporary credentials. The delegate receives new ones before
  /// they expire.
  public private(set) var iceServers: [ICEServer] = []

  private enum Link {
    case fresh, open, broken, closed
  }

  /// - Parameters:
  ///   - name: what others call this peer by; nil lets the hub choose.
  ///   - token: the hub's, where it has one.
  public init(
    _ address: HubAddress, name: PeerID? = nil, token: String? = nil,
    configuration: HubClient.Configuration = HubClient.Configuration()
  ) {
    client = HubClient(address: address, token: token, configuration: configuration)
    self.name = name
  }

  deinit { reading?.cancel() }

  /// Whether the connection to the hub is open.
  public var isOpen: Bool { link == .open }

  /// Sets the receiver of the hub's events. Set it before `connect`.
  public func setDelegate(_ delegate: (any SignalingServerDelegate)?) { self.delegate = delegate }

  /// - Throws: `HubClientError`.
  public func connect() async throws -> PeerID {
    let registration = try await client.connect(as: name)
    link = .open
    await told(registration.iceServers)
    let events = client.events
    reading = Task { [weak self] in
      for await event in events { await self?.hear(event) }
    }
    return registration.id
  }

  /// Leaves the hub and closes the connection.
  public func disconnect() async {
    link = .closed
    await client.close()
    await reading?.value
  }

  /// Sends a JSON text to a peer; while the hub is unreachable, the message waits.
  public func sendSignal(_ signal: [UInt8], to peer: PeerID) {
    client.send(.signal(data: String(decoding: signal, as: UTF8.self)), to: peer)
  }

  /// Sends an ICE candidate to a peer.
  public func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) {
    guard let signal = CandidateSignal(json: candidate) else { return }
    client.send(.candidate(signal.candidate, call: signal.call), to: peer)
  }

  /// Notifies a peer that a call has ended.
  public func sendEndCall(_ call: String, to peer: PeerID) { client.send(.bye(call: call), to: peer) }

  /// Comes back at once instead of after its pause.
  public func onConnectionSatisfied() { client.networkReturned() }

  /// Enters a room. Its members arrive as `SignalingEvent.peers`.
  public func join(room: String) { client.join(room) }

  /// Leaves a room.
  public func leave(room: String) { client.leave(room) }

  /// Requests the list of peers at the hub and its changes.
  public func followPeers() { client.follow() }

  private func hear(_ event: HubClientEvent) async {
    switch event {
    case .registered(let registration):
      let isReturn = link == .broken
      link = .open
      await told(registration.iceServers)
      if isReturn { await tell(.resumed) }
    case .iceServers(let servers): await told(servers)
    case .signal(let peer, let data, _): await tell(.signal(Array(data.utf8), from: peer))
    case .candidate(let peer, let candidate, let call):
      await tell(.candidate(Array(CandidateSignal(call: call, candidate: candidate).json.utf8), from: peer))
    case .bye(let peer, _, let call): await tell(.endCall(from: peer, call: call))
    case .peers(let room, let peers): await tell(.peers(room: room, peers))
    case .peerJoined(let room, let peer): await tell(.peerJoined(room: room, peer))
    case .peerLeft(let room, let peer): await tell(.peerLeft(room: room, peer))
    case .present(let peers): await tell(.present(peers))
    case .peerArrived(let peer): await tell(.arrived(peer))
    case .peerGone(let peer): await tell(.gone(peer))
    case .refused(let refusal): await tell(.refused(refusal))
    case .disconnected(let error, _):
      link = .broken
      await tell(.interrupted("\(error)"))
    case .ended(let error):
      let wasClosed = link == .closed
      link = .closed
      if !wasClosed { await tell(.ended(error.map { "\($0)" } ?? "The connection to the hub was closed.")) }
    }
  }

  private func told(_ servers: [ICEServer]) async {
    guard servers != iceServers else { return }
    iceServers = servers
    await tell(.iceServers(servers))
  }

  private func tell(_ event: SignalingEvent) async { await delegate?.signalingServer(event) }
}
