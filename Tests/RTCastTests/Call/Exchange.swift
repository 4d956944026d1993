import RTCPrimitives
import RTCSignaling
import RTCast

/// An application's own signaling: a table of names in this process, without rooms.
actor Exchange {
  /// How descriptions travel.
  enum Custom {
    /// As they were made, all candidates in them.
    case whole
    /// Without candidates, which follow one by one, and the empty one behind them.
    case trickled
    /// Not at all.
    case lossy
  }

  private let custom: Custom
  private var lines: [PeerID: ExchangeLine] = [:]
  /// The senders of offers, in order.
  private(set) var offers: [PeerID] = []

  init(_ custom: Custom = .whole) { self.custom = custom }

  func add(_ line: ExchangeLine, as name: PeerID) { lines[name] = line }
  func remove(_ name: PeerID) { lines[name] = nil }

  func deliver(_ event: SignalingEvent, to name: PeerID) async { await lines[name]?.hear(event) }

  func deliver(_ signal: [UInt8], from sender: PeerID, to name: PeerID) async {
    let json = String(decoding: signal, as: UTF8.self)
    if let said = CallSignal(json: json), case .description("offer", _) = said.body { offers.append(sender) }
    if custom == .lossy, case .description? = CallSignal(json: json)?.body { return }
    guard custom == .trickled, let said = CallSignal(json: json), case .description(let kind, let sdp) = said.body
    else {
      return await deliver(.signal(signal, from: sender), to: name)
    }
    let all = sdp.split(whereSeparator: \.isNewline)
    let candidates = all.filter { $0.hasPrefix("a=candidate:") }
    let rest = all.filter { !$0.hasPrefix("a=candidate:") && $0 != "a=end-of-candidates" }
    let bare = CallSignal(
      call: said.call, .description(kind: kind, sdp: rest.map { $0 + "\r\n" }.joined()), streams: said.streams)
    await deliver(.signal(Array(bare.json.utf8), from: sender), to: name)
    for candidate in candidates {
      let one = ICECandidateInit(candidate: String(candidate.dropFirst(2)), sdpMLineIndex: 0)
      await lines[sender]?.sendICECandidate(Array(CandidateSignal(call: said.call, candidate: one).json.utf8), to: name)
    }
    await lines[sender]?.sendICECandidate(Array(CandidateSignal(call: said.call, candidate: nil).json.utf8), to: name)
  }
}

/// One peer's way to the exchange.
actor ExchangeLine: SignalingServerConnection {
  let name: PeerID
  private let exchange: Exchange
  private weak var delegate: (any SignalingServerDelegate)?
  private(set) var isOpen = false
  /// The calls of its methods, in order.
  private(set) var calls: [String] = []
  /// The descriptions and candidates that it was asked to send, in order. One reader.
  nonisolated let signals: AsyncStream<MediaSignal>
  private let signalFeed: AsyncStream<MediaSignal>.Continuation

  init(_ name: PeerID, _ exchange: Exchange) {
    self.name = name
    self.exchange = exchange
    (signals, signalFeed) = AsyncStream.makeStream(of: MediaSignal.self)
  }

  func setDelegate(_ delegate: (any SignalingServerDelegate)?) {
    calls.append("delegate")
    self.delegate = delegate
  }

  func connect() async throws -> PeerID {
    calls.append("connect")
    await exchange.add(self, as: name)
    isOpen = true
    return name
  }

  func disconnect() async {
    calls.append("disconnect")
    isOpen = false
    signalFeed.finish()
    await exchange.remove(name)
  }

  func sendSignal(_ signal: [UInt8], to peer: PeerID) async {
    calls.append("signal")
    if case .description(let kind, let sdp)? = CallSignal(json: String(decoding: signal, as: UTF8.self))?.body {
      signalFeed.yield(.description(kind: kind, sdp: sdp))
    }
    await exchange.deliver(signal, from: name, to: peer)
  }

  func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) async {
    calls.append("candidate")
    if let signal = CandidateSignal(json: candidate) { signalFeed.yield(.candidate(signal.candidate)) }
    await exchange.deliver(.candidate(candidate, from: name), to: peer)
  }

  func sendEndCall(_ call: String, to peer: PeerID) async {
    calls.append("end")
    await exchange.deliver(.endCall(from: name, call: call), to: peer)
  }

  func onConnectionSatisfied() { calls.append("satisfied") }
  func onConnectionUnsatisfied() { calls.append("unsatisfied") }

  func hear(_ event: SignalingEvent) async { await delegate?.signalingServer(event) }
}
