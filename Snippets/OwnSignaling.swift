// Calls over an application's own signaling. Here two peers of one process call each other over a bus of messages; put
// your message broker, chat server or WebSocket in its place. Prints "connected" on both sides, then hangs up.

import RTCCapture
import RTCast

/// One peer's way to the bus.
///
/// An actor whose methods send before they return keeps the order of messages: `CallManager` calls one method after the
/// other and waits for each. A transport that breaks must not resend out of order: keep unsent messages in a queue,
/// reconnect by itself, and tell the delegate `.interrupted` and `.resumed` around it.
actor BusSignaling: SignalingServerConnection {
  private let bus: Bus
  private let name: PeerID
  private weak var delegate: (any SignalingServerDelegate)?
  private var reading: Task<Void, Never>?

  init(_ bus: Bus, name: PeerID) { (self.bus, self.name) = (bus, name) }

  var isOpen: Bool { reading != nil }

  func setDelegate(_ delegate: (any SignalingServerDelegate)?) { self.delegate = delegate }

  /// - Throws: `BusError.nameTaken`; whatever is thrown reaches the application as `CallManagerError.signaling`.
  func connect() async throws -> PeerID {
    let messages = try await bus.subscribe(name)
    // One task hands over what comes, one after the other, in the order in which it was sent.
    reading = Task { [weak self] in
      for await message in messages { await self?.tell(message) }
    }
    return name
  }

  func disconnect() async {
    await bus.unsubscribe(name)
    await reading?.value
    reading = nil
  }

  /// `signal` is JSON text, to be carried as it is. A transport that hears that nobody has this name says so: the call
  /// then ends at once with `CallEnd.unknownPeer`, and not after 45 s of ringing.
  func sendSignal(_ signal: [UInt8], to peer: PeerID) async {
    guard await bus.publish(.signal(signal, from: name), to: peer) else {
      return await tell(.refused(HubRefusal(code: "unknown-peer", message: "Nobody is called \(peer).", peer: peer)))
    }
  }

  func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) async {
    _ = await bus.publish(.candidate(candidate, from: name), to: peer)
  }

  /// `call` is the identifier that the caller chose for the call; with it a late message cannot end the next call.
  func sendEndCall(_ call: String, to peer: PeerID) async {
    _ = await bus.publish(.endCall(from: name, call: call), to: peer)
  }

  /// `CallManager` calls this when the machine's network is back: a transport that waits before it tries again stops
  /// waiting. The bus of one process cannot break, so there is nothing to do.
  func onConnectionSatisfied() async {}

  private func tell(_ event: SignalingEvent) async { await delegate?.signalingServer(event) }
}

/// Stands for whatever carries messages between names: each arrives once, in order, or is refused.
actor Bus {
  private var inboxes: [PeerID: AsyncStream<SignalingEvent>.Continuation] = [:]

  func subscribe(_ name: PeerID) throws -> AsyncStream<SignalingEvent> {
    guard inboxes[name] == nil else { throw BusError.nameTaken }
    let (messages, inbox) = AsyncStream.makeStream(of: SignalingEvent.self)
    inboxes[name] = inbox
    return messages
  }

  func unsubscribe(_ name: PeerID) { inboxes.removeValue(forKey: name)?.finish() }

  func publish(_ message: SignalingEvent, to name: PeerID) -> Bool {
    guard let inbox = inboxes[name] else { return false }
    inbox.yield(message)
    return true
  }
}

enum BusError: Error { case nameTaken }

let bus = Bus()
let alice = try CallManager.initialize(signalingServer: BusSignaling(bus, name: "alice"))
let bob = try CallManager.initialize(signalingServer: BusSignaling(bus, name: "bob"))
_ = try await alice.setupConnection()
_ = try await bob.setupConnection()
let answering = Task {
  for await case .callChanged(let state) in bob.events {
    if case .ringing(_, .callee) = state { try await bob.answerCallRequest(accept: true) }
    if case .connected = state { print("bob: connected") }
  }
}
try await alice.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
try await alice.sendCallRequest(to: "bob")
for await case .callChanged(let state) in alice.events {
  if case .connected = state {
    print("alice: connected")
    await alice.disconnect()
  }
}
await bob.disconnect()
try await answering.value
