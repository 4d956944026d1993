package import RTCPrimitives

/// The state machine of one call, from its first ring to its end. Sans-IO: it returns the signals to send and the
/// connections to open and close.
///
/// After a call has ended, the machine can take the next one. Messages that belong to no present call are dropped.
package struct CallMachine: Sendable {
  /// Time-outs of a call.
  package struct Options: Sendable, Hashable {
    /// Rings there for so long.
    package var ringTimeout = TimeDelta.seconds(45)
    /// Rings here for so long; longer than there, so that it is the caller who gives up.
    package var answerTimeout = TimeDelta.seconds(60)
    /// From the acceptance to a media connection (Tests/features.md S0.32).
    package var connectTimeout = TimeDelta.seconds(30)

    /// The defaults.
    package init() {}
  }

  /// An input of a call.
  package enum Input: Sendable, Hashable {
    // From here.
    /// - Parameter id: random, so that no two calls share it.
    case call(peer: String, id: String, media: [String: Bool] = [:])
    /// Takes or rejects the call that rings here.
    case answer(accept: Bool)
    /// Ends the call in any state.
    case hangUp
    // From the remote peer and the hub.
    /// A message of the remote peer.
    case signal(CallSignal, from: String)
    /// A candidate of the remote peer, nil after the last; `call` is nil where its protocol does not say.
    case candidate(ICECandidateInit?, from: String, call: String?)
    /// The remote peer ended the call named, or any with it.
    case bye(from: String, call: String?)
    /// The hub could not deliver something to this peer.
    case undelivered(to: String, code: String)
    /// The peer has left the room.
    case left(String)
    /// Signaling has ended for good; the sentence gives the reason.
    case signalingEnded(String)
    // From the media connection.
    /// ICE and DTLS are done, or ICE has found another way.
    case connected
    /// The media connection receives nothing at present.
    case connectionInterrupted
    /// The remote peer closed it.
    case connectionClosed
    /// The media connection was established and is lost; the sentence gives the reason.
    case connectionLost(String)
    /// The media connection was not established; the sentence gives the reason.
    case connectionFailed(String)
    /// The time of `deadline` has come.
    case deadline
  }

  /// An action for the owner, in order.
  package enum Action: Sendable, Hashable {
    /// Sends a message by signaling.
    case send(CallSignal, to: String)
    /// Sends the remote peer the end of the call.
    case hangUp(to: String, call: String)
    /// Make a media connection; `pass` and `close` are about it.
    case open(CallParty, CallRole)
    /// Hands a description or candidate of the remote peer to the media connection.
    case pass(MediaSignal)
    /// Closes the media connection.
    case close
    /// The state changed.
    case state(CallState)
    /// The remote peer says that it sends no sound or picture for now, or does again.
    case muted(kind: String, Bool)
    /// An input from here that cannot be meant.
    case misuse(CallMisuse)
  }

  private enum Stage: Sendable {
    case idle
    case calling(CallParty, until: Timestamp)
    case rung(CallParty, until: Timestamp, held: HeldSignals)
    case connecting(CallParty, CallRole, until: Timestamp)
    case connected(CallParty, CallRole)
    case reconnecting(CallParty, CallRole)
    case ended(CallParty, CallEnd)
  }

  private let me: String
  /// Takes calls without asking when it is in a room.
  private let room: String?
  private let options: Options
  private var stage = Stage.idle
  private var actions: [Action] = []

  /// - Parameters:
  ///   - me: our own name at the hub.
  ///   - room: set for a place in a room: calls are taken without ringing here.
  package init(me: String, room: String? = nil, options: Options = Options()) {
    self.me = me
    self.room = room
    self.options = options
  }

  /// The state of the call.
  package var state: CallState {
    switch stage {
    case .idle: .idle
    case .calling(let party, _): .ringing(party, .caller)
    case .rung(let party, _, _): .ringing(party, .callee)
    case .connecting(let party, let role, _): .connecting(party, role)
    case .connected(let party, let role): .connected(party, role)
    case .reconnecting(let party, let role): .reconnecting(party, role)
    case .ended(let party, let end): .ended(party, end)
    }
  }

  /// When `handle(.deadline, …)` is wanted; nil: not before something else happens.
  package var deadline: Timestamp? {
    switch stage {
    case .idle, .connected, .reconnecting, .ended: nil
    case .calling(_, let until), .rung(_, let until, _), .connecting(_, _, let until): until
    }
  }

  /// Handles an input; returns the actions, in order. `now` must not decrease.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    switch input {
    case .call(let peer, let id, let media): call(peer, id, media, now)
    case .answer(let accept): answer(accept, now)
    case .hangUp: hangUp()
    case .signal(let signal, let peer): receive(signal, from: peer, now)
    case .candidate(let candidate, let peer, let call): receive(.candidate(candidate), from: peer, call: call)
    case .bye(let peer, let call): if isCurrent(peer, call) { end(.hungUpRemotely) }
    case .undelivered(let peer, let code): undelivered(to: peer, code)
    case .left(let peer): if state.party?.peer == peer { end(.vanished) }
    case .signalingEnded(let why): signalingEnded(why)
    case .connected: connected()
    case .connectionInterrupted:
      if case .connected(let party, let role) = stage { move(to: .reconnecting(party, role)) }
    case .connectionClosed: mediaEnded(.hungUpRemotely)
    case .connectionLost(let how): mediaEnded(.connectionLost(how))
    case .connectionFailed(let why): mediaEnded(.failed(why))
    case .deadline: if let deadline, deadline <= now { expire() }
    }
    defer { actions = [] }
    return actions
  }

  // MARK: - From here

  private mutating func call(_ peer: String, _ id: String, _ media: [String: Bool], _ now: Timestamp) {
    if peer == me { return actions.append(.misuse(.callingOneself)) }
    switch stage {
    case .idle, .ended:
      let party = CallParty(peer: peer, call: id, room: room)
      move(to: .calling(party, until: now + options.ringTimeout))
      actions.append(.send(CallSignal(call: id, .ring(media: media, room: room)), to: peer))
    // A call to the peer that is ringing here accepts its call.
    case .rung(let party, _, _) where party.peer == peer: answer(true, now)
    case .calling, .rung, .connecting, .connected, .reconnecting: actions.append(.misuse(.inCall))
    }
  }

  private mutating func answer(_ accept: Bool, _ now: Timestamp) {
    guard case .rung(let party, _, let held) = stage else { return actions.append(.misuse(.nothingToAnswer)) }
    guard accept else {
      actions.append(.send(CallSignal(call: party.call, .reject(reason: "rejected")), to: party.peer))
      return move(to: .ended(party, .hungUp))
    }
    take(party, now)
    for signal in held.signals { actions.append(.pass(signal)) }
  }

  private mutating func take(_ party: CallParty, _ now: Timestamp) {
    actions.append(.send(CallSignal(call: party.call, .accept), to: party.peer))
    open(party, .callee, now)
  }

  private mutating func open(_ party: CallParty, _ role: CallRole, _ now: Timestamp) {
    move(to: .connecting(party, role, until: now + options.connectTimeout))
    actions.append(.open(party, role))
  }

  private mutating func hangUp() {
    guard case .rung(let party, _, _) = stage else { return end(.hungUp, tellingFar: true) }
    actions.append(.send(CallSignal(call: party.call, .reject(reason: "rejected")), to: party.peer))
    move(to: .ended(party, .hungUp))
  }

  // MARK: - From the remote peer

  private mutating func receive(_ signal: CallSignal, from peer: String, _ now: Timestamp) {
    if case .ring(_, let room) = signal.body {
      return rung(CallParty(peer: peer, call: signal.call, room: room), now)
    }
    guard isCurrent(peer, signal.call) else { return dismiss(signal, from: peer) }
    switch signal.body {
    case .ring: break
    case .accept: if case .calling(let party, _) = stage { open(party, .caller, now) }
    case .reject(let reason): rejected(reason)
    case .description(let kind, let sdp):
      if !signal.streams.isEmpty { receive(.streams(signal.streams), from: peer, call: signal.call) }
      receive(.description(kind: kind, sdp: sdp), from: peer, call: signal.call)
    case .streams: receive(.streams(signal.streams), from: peer, call: signal.call)
    case .mute(let kind, let isMuted):
      switch stage {
      case .connecting, .connected, .reconnecting: actions.append(.muted(kind: kind, isMuted))
      case .idle, .calling, .rung, .ended: break
      }
    case .end: end(.hungUpRemotely)
    }
  }

  private mutating func receive(_ signal: MediaSignal, from peer: String, call: String?) {
    guard isCurrent(peer, call) else { return }
    switch stage {
    case .idle, .calling, .ended: break
    case .rung(let party, let until, var held):
      held.append(signal)
      stage = .rung(party, until: until, held: held)
    case .connecting, .connected, .reconnecting: actions.append(.pass(signal))
    }
  }

  /// A peer rings.
  private mutating func rung(_ party: CallParty, _ now: Timestamp) {
    guard party.peer != me else { return }
    switch stage {
    case .idle, .ended: ring(party, now)
    case .calling(let own, _):
      guard own.peer == party.peer else { return refuse(party) }
      // Both peers called at once: the call of the peer with the smaller name is kept, and counts as accepted.
      if party.peer.utf16.lexicographicallyPrecedes(me.utf16) { take(party, now) }
    case .rung(let old, _, _):
      guard old.peer == party.peer else { return refuse(party) }
      guard old.call != party.call else { return }
      end(.hungUpRemotely)
      ring(party, now)
    case .connecting(let old, _, _), .connected(let old, _), .reconnecting(let old, _):
      guard old.peer == party.peer else { return refuse(party) }
      guard old.call != party.call else { return }
      // A peer that rings again has abandoned the earlier call, perhaps without a message.
      end(.hungUpRemotely)
      ring(party, now)
    }
  }

  private mutating func ring(_ party: CallParty, _ now: Timestamp) {
    if room != nil { return take(party, now) }
    move(to: .rung(party, until: now + options.answerTimeout, held: HeldSignals()))
  }

  private mutating func refuse(_ party: CallParty) {
    actions.append(.send(CallSignal(call: party.call, .reject(reason: "busy")), to: party.peer))
  }

  private mutating func rejected(_ reason: String) {
    switch reason {
    case "busy": end(.busy)
    case "unsupported": end(.unsupported)
    default: end(.rejected)
    }
  }

  /// Answers a message of a call that does not exist, so that the sender does not wait.
  private mutating func dismiss(_ signal: CallSignal, from peer: String) {
    guard peer != me else { return }
    switch signal.body {
    case .accept, .description(kind: "offer", _): actions.append(.hangUp(to: peer, call: signal.call))
    case .ring, .reject, .description, .streams, .mute, .end: break
    }
  }

  /// - Parameter call: nil if the sender does not identify the call: then any call with that peer.
  private func isCurrent(_ peer: String, _ call: String?) -> Bool {
    guard state.isActive, let party = state.party else { return false }
    return party.peer == peer && (call == nil || party.call == call)
  }

  // MARK: - Ends

  private mutating func undelivered(to peer: String, _ code: String) {
    switch stage {
    case .calling(let party, _) where party.peer == peer: end(code == "incompatible" ? .unsupported : .unknownPeer)
    case .connecting(let party, _, _) where party.peer == peer: end(code == "incompatible" ? .unsupported : .vanished)
    // An established call needs no hub.
    case .idle, .calling, .rung, .connecting, .connected, .reconnecting, .ended: break
    }
  }

  private mutating func signalingEnded(_ why: String) {
    switch stage {
    case .calling, .rung, .connecting: end(.signalingLost(why))
    case .idle, .connected, .reconnecting, .ended: break
    }
  }

  private mutating func connected() {
    switch stage {
    case .connecting(let party, let role, _), .reconnecting(let party, let role): move(to: .connected(party, role))
    case .idle, .calling, .rung, .connected, .ended: break
    }
  }

  private mutating func mediaEnded(_ end: CallEnd) {
    switch stage {
    case .connecting, .connected, .reconnecting: self.end(end, tellingFar: true)
    case .idle, .calling, .rung, .ended: break
    }
  }

  private mutating func expire() {
    switch stage {
    case .calling: end(.noAnswer, tellingFar: true)
    case .rung: end(.missed, tellingFar: true)
    case .connecting: end(.connectTimeout, tellingFar: true)
    case .idle, .connected, .reconnecting, .ended: break
    }
  }

  private mutating func end(_ end: CallEnd, tellingFar: Bool = false) {
    guard state.isActive, let party = state.party else { return }
    if tellingFar { actions.append(.hangUp(to: party.peer, call: party.call)) }
    switch stage {
    case .connecting, .connected, .reconnecting: actions.append(.close)
    case .idle, .calling, .rung, .ended: break
    }
    move(to: .ended(party, end))
  }

  private mutating func move(to next: Stage) {
    stage = next
    actions.append(.state(state))
  }
}

/// A call from here that cannot be meant; the text says what to do instead.
package enum CallMisuse: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name called is our own.
  case callingOneself
  /// There is another call.
  case inCall
  /// No call rings here.
  case nothingToAnswer

  /// A sentence for the user with the remedy.
  package var description: String {
    switch self {
    case .callingOneself: "That is our own name at the hub; call another."
    case .inCall: "There is a call already; end it first."
    case .nothingToAnswer: "Nobody is calling, so there is nothing to answer."
    }
  }
}
