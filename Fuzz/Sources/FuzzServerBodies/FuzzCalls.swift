import RTCPrimitives
import RTCSignaling

/// All calls of a peer, with a hub and other peers that say anything in any order: one byte says what happens and one how. A
/// place holds one connection at most, nothing is sent to oneself, no place is held for more peers than a room may have, and
/// nothing wakes without end.
public func fuzzCalls(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var model = CallModel()
  while let deed = reader.readUInt8(), let how = reader.readUInt8() { model.happen(deed, how, &reader) }
  model.finish()
}

private struct CallModel {
  private static let me = "m"
  private static let peers = ["a", "z", "m", "b"]
  private static let rooms = ["r", "s"]
  private var board = Switchboard(me: me, seed: 1)
  private var now = Timestamp.zero
  private var open: [Switchboard.Line] = []
  private var rings: [(call: String, peer: String)] = [("x", "a"), ("y", "z")]

  mutating func happen(_ deed: UInt8, _ how: UInt8, _ reader: inout ByteReader) {
    let peer = Self.peers[Int(how & 3)]
    let room = Self.rooms[Int(how >> 2 & 1)]
    let call = rings[Int(how >> 3) % rings.count].call
    switch deed & 31 {
    case 0: handle(.call(peer, media: ["audio": true]))
    case 1: handle(.answer(accept: how & 1 == 0))
    case 2: handle(.hangUp)
    case 3: handle(.join(room))
    case 4: handle(.leave(room))
    case 5: handle(.peers(room: room, Array(Self.peers.prefix(Int(how & 3)))))
    case 6: handle(.peerJoined(room: room, peer: peer))
    case 7: handle(.peerLeft(room: room, peer: peer))
    case 8...13: say(body(deed & 31, room, &reader), call, peer)
    case 14: handle(.candidate(how & 0x80 == 0 ? nil : ICECandidateInit(candidate: "c"), from: peer, call: call))
    case 15: handle(.bye(from: peer, call: how & 0x80 == 0 ? nil : call))
    case 16: handle(.refused(refusal(deed, peer, room)))
    case 17: if let line = line(how) { handle(.connected(line)) }
    case 18: if let line = line(how) { handle(.connectionInterrupted(line)) }
    case 19: if let line = line(how) { handle(.connectionClosed(line)) }
    case 20: if let line = line(how) { handle(.connectionLost(line, "x")) }
    case 21: if let line = line(how) { handle(.connectionFailed(line, "x")) }
    case 22: wait()
    case 23: now += .milliseconds(Int64(how) * Int64(how))
    case 24: handle(.signalingEnded("x"))
    case 25: handle(.peers(room: room, (0..<Int(how) * 2).map { "p\($0)" }))
    // Any signal of a peer, in its own words.
    case 26: handle(.signal(json: reader.takeText(), from: peer))
    default: handle(.deadline)
    }
    checkRooms()
  }

  private func line(_ how: UInt8) -> Switchboard.Line? { open.isEmpty ? nil : open[Int(how) % open.count] }

  private func body(_ kind: UInt8, _ room: String, _ reader: inout ByteReader) -> CallSignal.Body {
    switch kind {
    case 8: .ring()
    case 9: .ring(room: room)
    case 10: .accept
    case 11: .reject(reason: reader.takeText())
    case 12: .description(kind: "offer", sdp: reader.takeText())
    default: .end
    }
  }

  private func refusal(_ deed: UInt8, _ peer: String, _ room: String) -> HubRefusal {
    HubRefusal(
      code: deed & 0x20 == 0 ? "unknown-peer" : "incompatible", message: "x", peer: deed & 0x40 == 0 ? peer : nil,
      room: deed & 0x80 == 0 ? nil : room)
  }

  private mutating func say(_ body: CallSignal.Body, _ call: String, _ peer: String) {
    let signal = CallSignal(call: call, body)
    precondition(CallSignal(json: signal.json) == signal || !isShort(body), "\(signal) is read differently")
    handle(.signal(json: signal.json, from: peer))
  }

  /// Longer reasons are not read.
  private func isShort(_ body: CallSignal.Body) -> Bool {
    if case .reject(let reason) = body { reason.utf8.count <= 256 } else { true }
  }

  private mutating func wait() {
    guard let deadline = board.deadline else { return }
    now = max(now, deadline)
    handle(.deadline)
    if let next = board.deadline { precondition(next > now, "a call wakes without end") }
  }

  private mutating func handle(_ input: Switchboard.Input) {
    for action in board.handle(input, now: now) {
      guard case .line(let line, let action) = action else { continue }
      perform(action, on: line)
    }
  }

  private mutating func perform(_ action: CallMachine.Action, on line: Switchboard.Line) {
    switch action {
    case .open(let party, _):
      precondition(!open.contains(line), "two connections at \(line)")
      precondition(party.peer != Self.me)
      open.append(line)
    case .close:
      guard let index = open.firstIndex(of: line) else { preconditionFailure("\(line) is closed twice") }
      open.remove(at: index)
    case .pass: precondition(open.contains(line), "a description for no connection")
    case .send(let signal, let peer):
      precondition(peer != Self.me)
      if case .ring = signal.body { rings = Array((rings + [(signal.call, peer)]).suffix(8)) }
    case .hangUp(let peer, _): precondition(peer != Self.me)
    case .state, .muted, .misuse: break
    }
  }

  private func checkRooms() {
    for room in Self.rooms { precondition(board.peers(in: room).count <= 256 && board.states(in: room).count <= 256) }
  }

  /// Everything is hung up: no connection is left, and no deadline.
  mutating func finish() {
    handle(.hangUp)
    for room in Self.rooms { handle(.leave(room)) }
    precondition(open.isEmpty, "connections are left: \(open)")
    precondition(board.deadline == nil && !board.state.isActive)
  }
}
