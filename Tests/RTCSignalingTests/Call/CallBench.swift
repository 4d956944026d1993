import RTCPrimitives
import RTCSignaling

/// A place for a call of `me`, brought into a state by what leads there, and its actions in few words.
struct CallBench {
  var machine: CallMachine
  var now = Timestamp.zero

  static let ring = Timestamp.zero + CallMachine.Options().ringTimeout
  static let answer = Timestamp.zero + CallMachine.Options().answerTimeout
  static let connect = Timestamp.zero + CallMachine.Options().connectTimeout

  enum Start: String, CaseIterable {
    case idle, calling, rung, connectingOut, connectingIn, connected, reconnecting, ended
  }

  init(_ start: Start = .idle, me: String = "me", room: String? = nil) {
    machine = CallMachine(me: me, room: room)
    for input in Self.way(to: start) { _ = machine.handle(input, now: now) }
  }

  /// The present call is `c`, with `bob`.
  private static func way(to start: Start) -> [CallMachine.Input] {
    let call = CallMachine.Input.call(peer: "bob", id: "c")
    let ring = CallMachine.Input.signal(CallSignal(call: "c", .ring()), from: "bob")
    let accepted = CallMachine.Input.signal(CallSignal(call: "c", .accept), from: "bob")
    return switch start {
    case .idle: []
    case .calling: [call]
    case .rung: [ring]
    case .connectingOut: [call, accepted]
    case .connectingIn: [ring, .answer(accept: true)]
    case .connected: [call, accepted, .connected]
    case .reconnecting: [call, accepted, .connected, .connectionInterrupted]
    case .ended: [call, .hangUp]
    }
  }

  mutating func act(_ input: CallMachine.Input) -> [String] { machine.handle(input, now: now).map(Self.words) }

  static func words(_ action: CallMachine.Action) -> String {
    switch action {
    case .send(let signal, let peer): "\(words(signal)) to \(peer)"
    case .hangUp(let peer, let call): "hang up \(call) to \(peer)"
    case .open(let party, let role): "open \(party.call) with \(party.peer) as \(role)"
    case .pass(.description(let kind, _)): "pass \(kind)"
    case .pass(.streams(let streams)): "pass \(streams.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
    case .pass(.candidate(let candidate)): candidate == nil ? "pass the end of candidates" : "pass a candidate"
    case .close: "close"
    case .state(let state): words(state)
    case .muted(let kind, let isMuted): "\(kind) \(isMuted ? "muted" : "heard")"
    case .misuse(let misuse): "misuse: \(misuse)"
    }
  }

  private static func words(_ signal: CallSignal) -> String {
    switch signal.body {
    case .ring(_, let room): "ring \(signal.call)" + (room.map { " in \($0)" } ?? "")
    case .accept: "accept \(signal.call)"
    case .reject(let reason): "reject \(signal.call) as \(reason)"
    case .description(let kind, _): "\(kind) \(signal.call)"
    case .mute: "mute \(signal.call)"
    case .streams: "streams \(signal.call)"
    case .end: "end \(signal.call)"
    }
  }

  private static func words(_ state: CallState) -> String {
    switch state {
    case .idle: "idle"
    case .ringing(let party, let role): "ringing \(party.call) as \(role)"
    case .connecting(let party, _): "connecting \(party.call)"
    case .connected(let party, _): "connected \(party.call)"
    case .reconnecting(let party, _): "reconnecting \(party.call)"
    case .ended(let party, let end): "ended \(party.call): \(end.word)"
    }
  }
}
