import RTCDTLS
package import RTCPrimitives

/// All calls of one peer at the hub: one outside rooms, and in each room one with every other member.
///
/// Sans-IO. It dispatches each message to the `CallMachine` that it belongs to.
package struct Switchboard: Sendable {
  /// A place for a call.
  package enum Line: Sendable, Hashable {
    /// The call outside rooms.
    case phone
    /// The call with one member of a room.
    case room(String, peer: String)
  }

  /// An input of the switchboard.
  package enum Input: Sendable, Hashable {
    // From here.
    /// Rings a peer; `media` says which kinds we would send.
    case call(String, media: [String: Bool] = [:])
    /// Takes or rejects the call that rings here.
    case answer(accept: Bool)
    /// Ends the call outside rooms.
    case hangUp
    /// Enters a room.
    case join(String)
    /// Leaves a room and ends its calls.
    case leave(String)
    // From the hub.
    /// A message of a remote peer, as `CallSignal`.
    case signal(json: String, from: String)
    /// A candidate of a remote peer, nil after the last.
    case candidate(ICECandidateInit?, from: String, call: String?)
    /// A remote peer ended the call named, or all with it.
    case bye(from: String, call: String?)
    /// The hub refused or could not deliver a message.
    case refused(HubRefusal)
    /// The members of a room before our arrival.
    case peers(room: String, [String])
    /// A peer has entered a room that we are in.
    case peerJoined(room: String, peer: String)
    /// A peer has left the room.
    case peerLeft(room: String, peer: String)
    /// Signaling has ended for good; the sentence gives the reason.
    case signalingEnded(String)
    // From a media connection.
    /// ICE and DTLS of that call are done.
    case connected(Line)
    /// The media connection receives nothing at present.
    case connectionInterrupted(Line)
    /// The remote peer closed it.
    case connectionClosed(Line)
    /// The media connection was established and is lost.
    case connectionLost(Line, String)
    /// The media connection was not established.
    case connectionFailed(Line, String)
    /// The time of `deadline` has come.
    case deadline
  }

  /// An action for the owner, in order.
  package enum Action: Sendable, Hashable {
    /// An action of one call.
    case line(Line, CallMachine.Action)
    /// Join a room at the hub.
    case join(String)
    /// Leaves a room and ends its calls.
    case leave(String)
    /// A peer is in the room with us.
    case present(room: String, peer: String)
    /// A peer is not in the room any more.
    case absent(room: String, peer: String)
    /// The hub does not let us in; the sentence says why.
    case notAdmitted(room: String, String)
  }

  private struct Room: Sendable {
    /// In the order they came.
    var peers: [String] = []
    var lines: [String: CallMachine] = [:]
  }

  /// The maximum number of members, above any hub's limit; further members are ignored.
  static let mostPeers = 256

  /// Our own name at the hub.
  package let me: String
  private let options: CallMachine.Options
  private let seed: UInt64
  /// The number of identifiers given to calls.
  private var calls: UInt64 = 0
  private var phone: CallMachine
  private var rooms: [String: Room] = [:]
  private var actions: [Action] = []
  /// Messages that could not be read.
  package private(set) var unreadable = 0

  /// - Parameters:
  ///   - me: our own name at the hub.
  ///   - seed: of the calls' identifiers; unguessable.
  package init(me: String, options: CallMachine.Options = CallMachine.Options(), seed: UInt64) {
    self.me = me
    self.options = options
    self.seed = seed
    phone = CallMachine(me: me, options: options)
  }

  /// The state of the call outside rooms.
  package var state: CallState { phone.state }

  /// The states of a room's calls, by peer.
  package func states(in room: String) -> [String: CallState] { rooms[room]?.lines.mapValues(\.state) ?? [:] }

  /// The others in a room, in the order they came.
  package func peers(in room: String) -> [String] { rooms[room]?.peers ?? [] }

  /// When `handle(.deadline, …)` is wanted; nil: not before something else happens.
  package var deadline: Timestamp? {
    var deadlines = rooms.values.flatMap { $0.lines.values.compactMap(\.deadline) }
    if let deadline = phone.deadline { deadlines.append(deadline) }
    return deadlines.min()
  }

  /// Handles an input; returns the actions, in order. `now` must not decrease.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    switch input {
    case .call(let peer, let media): step(.phone, .call(peer: peer, id: freshID(), media: media), now)
    case .answer(let accept): step(.phone, .answer(accept: accept), now)
    case .hangUp: step(.phone, .hangUp, now)
    case .join(let room): join(room)
    case .leave(let room): leave(room, now)
    case .signal(let json, let peer): receive(json, from: peer, now)
    case .candidate(let candidate, let peer, let call):
      for line in lines(with: peer, call) { step(line, .candidate(candidate, from: peer, call: call), now) }
    case .bye(let peer, let call): for line in lines(with: peer, call) { step(line, .bye(from: peer, call: call), now) }
    case .refused(let refusal): refused(refusal, now)
    case .peers(let room, let peers): arrived(room, peers, now)
    case .peerJoined(let room, let peer): note(peer, in: room)
    case .peerLeft(let room, let peer): left(room, peer, now)
    case .signalingEnded(let why): for line in allLines { step(line, .signalingEnded(why), now) }
    case .connected(let line): step(line, .connected, now)
    case .connectionInterrupted(let line): step(line, .connectionInterrupted, now)
    case .connectionClosed(let line): step(line, .connectionClosed, now)
    case .connectionLost(let line, let how): step(line, .connectionLost(how), now)
    case .connectionFailed(let line, let why): step(line, .connectionFailed(why), now)
    case .deadline: for line in allLines { step(line, .deadline, now) }
    }
    defer { actions = [] }
    return actions
  }

  // MARK: - Lines

  private mutating func step(_ line: Line, _ input: CallMachine.Input, _ now: Timestamp) {
    switch line {
    case .phone: for action in phone.handle(input, now: now) { actions.append(.line(.phone, action)) }
    case .room(let name, let peer):
      guard var machine = rooms[name]?.lines[peer] else { return }
      for action in machine.handle(input, now: now) { actions.append(.line(line, action)) }
      rooms[name]?.lines[peer] = machine.state.isActive ? machine : nil
    }
  }

  private var allLines: [Line] {
    [.phone]
      + rooms.keys.sorted().flatMap { room in
        (rooms[room]?.lines.keys.sorted() ?? []).map { Line.room(room, peer: $0) }
      }
  }

  /// The lines of calls with that peer.
  /// - Parameter call: nil: all calls.
  private func lines(with peer: String, _ call: String?) -> [Line] {
    allLines.filter { line in
      let state: CallState? =
        switch line {
        case .phone: phone.state
        case .room(let room, let peer): rooms[room]?.lines[peer]?.state
        }
      guard let state, state.isActive, let party = state.party else { return false }
      return party.peer == peer && (call == nil || party.call == call)
    }
  }

  private mutating func receive(_ json: String, from peer: String, _ now: Timestamp) {
    guard let signal = CallSignal(json: json) else {
      unreadable += 1
      return
    }
    if case .ring(_, let room?) = signal.body { return rung(signal, from: peer, in: room, now) }
    // A signal that belongs to no call goes to the line outside rooms.
    step(lines(with: peer, signal.call).first ?? .phone, .signal(signal, from: peer), now)
  }

  private mutating func rung(_ signal: CallSignal, from peer: String, in room: String, _ now: Timestamp) {
    guard peer != me else { return }
    // The hub decides who is in a room, not the caller.
    guard rooms[room]?.peers.contains(peer) == true else {
      return actions.append(
        .line(.phone, .send(CallSignal(call: signal.call, .reject(reason: "rejected")), to: peer)))
    }
    guard place(for: peer, in: room) else { return }
    step(.room(room, peer: peer), .signal(signal, from: peer), now)
  }

  /// Makes a place for a call in a room; false when there are too many.
  private mutating func place(for peer: String, in room: String) -> Bool {
    guard let lines = rooms[room]?.lines else { return false }
    if lines[peer] != nil { return true }
    guard lines.count < Self.mostPeers else { return false }
    rooms[room]?.lines[peer] = CallMachine(me: me, room: room, options: options)
    return true
  }

  /// Returns `rc_` and 64 bits: fourteen characters. They are hashed, so that an identifier reveals nothing of the
  /// generator's state or the next one.
  private mutating func freshID() -> String {
    let key = (0..<8).map { UInt8(truncatingIfNeeded: seed >> ($0 * 8)) }
    calls += 1
    let number = (0..<8).map { UInt8(truncatingIfNeeded: calls >> ($0 * 8)) }
    let digest = (try? MessageAuthentication.hmacSHA256(key: key, Array("rtcast call\n".utf8) + number)) ?? number
    return CallSignal.identifierPrefix + Base64URL.encode(Array(digest.prefix(8)))
  }

  // MARK: - Rooms

  private mutating func join(_ room: String) {
    if rooms[room] == nil { rooms[room] = Room() }
    actions.append(.join(room))
  }

  private mutating func leave(_ room: String, _ now: Timestamp) {
    guard let present = rooms[room] else { return }
    for peer in present.lines.keys.sorted() { step(.room(room, peer: peer), .hangUp, now) }
    for peer in present.peers { actions.append(.absent(room: room, peer: peer)) }
    rooms[room] = nil
    actions.append(.leave(room))
  }

  /// The newcomer calls every member. After the hub was away, those without a call.
  private mutating func arrived(_ room: String, _ peers: [String], _ now: Timestamp) {
    guard rooms[room] != nil else { return }
    for gone in rooms[room]?.peers ?? [] where !peers.contains(gone) {
      // An established call continues without the hub.
      if rooms[room]?.lines[gone]?.state.isEstablished == true { continue }
      left(room, gone, now)
    }
    for peer in peers.prefix(Self.mostPeers) where peer != me {
      note(peer, in: room)
      guard place(for: peer, in: room), rooms[room]?.lines[peer]?.state == .idle else { continue }
      step(.room(room, peer: peer), .call(peer: peer, id: freshID()), now)
    }
  }

  private mutating func note(_ peer: String, in room: String) {
    guard let peers = rooms[room]?.peers, peer != me, peers.count < Self.mostPeers, !peers.contains(peer) else {
      return
    }
    rooms[room]?.peers.append(peer)
    actions.append(.present(room: room, peer: peer))
  }

  private mutating func left(_ room: String, _ peer: String, _ now: Timestamp) {
    step(.room(room, peer: peer), .left(peer), now)
    guard let index = rooms[room]?.peers.firstIndex(of: peer) else { return }
    rooms[room]?.peers.remove(at: index)
    actions.append(.absent(room: room, peer: peer))
  }

  private mutating func refused(_ refusal: HubRefusal, _ now: Timestamp) {
    if let peer = refusal.peer {
      for line in lines(with: peer, nil) { step(line, .undelivered(to: peer, code: refusal.code), now) }
    }
    guard let room = refusal.room, rooms[room] != nil else { return }
    for peer in rooms[room]?.lines.keys.sorted() ?? [] { step(.room(room, peer: peer), .hangUp, now) }
    rooms[room] = nil
    actions.append(.notAdmitted(room: room, refusal.message))
  }
}
