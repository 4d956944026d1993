import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct SwitchboardTests {
  /// Two or more peers whose messages reach each other at once, in order.
  private struct Exchange {
    var boards: [String: Switchboard] = [:]
    var log: [String] = []
    private var queue: [(to: String, Switchboard.Input)] = []

    init(_ names: String...) {
      for (index, name) in names.enumerated() { boards[name] = Switchboard(me: name, seed: UInt64(index + 1)) }
    }

    mutating func act(_ name: String, _ input: Switchboard.Input) {
      queue.append((name, input))
      while !queue.isEmpty {
        let (to, input) = queue.removeFirst()
        for action in boards[to]?.handle(input, now: .zero) ?? [] { perform(action, of: to) }
      }
    }

    private mutating func perform(_ action: Switchboard.Action, of name: String) {
      switch action {
      case .line(_, .send(let signal, let peer)):
        if boards[peer] == nil {
          queue.append((name, .refused(HubRefusal(code: "unknown-peer", message: "", peer: peer))))
        } else {
          queue.append((peer, .signal(json: signal.json, from: name)))
        }
      case .line(_, .hangUp(let peer, let call)): queue.append((peer, .bye(from: name, call: call)))
      case .line(let line, .open):
        log.append("\(name) opens \(line)")
        queue.append((name, .connected(line)))
      case .line(.phone, .state(let state)):
        if case .ended(_, let end) = state { log.append("\(name): \(end.word)") }
      case .line: break
      case .join, .leave, .notAdmitted: break
      case .present(_, let peer): log.append("\(name) sees \(peer)")
      case .absent(_, let peer): log.append("\(name) misses \(peer)")
      }
    }
  }

  @Test(.feature("S0.10", "S0.11")) func `one calls, the other takes it, and both are connected`() {
    var exchange = Exchange("alice", "bob")
    exchange.act("alice", .call("bob", media: ["audio": true]))
    guard case .ringing(let party, .callee) = exchange.boards["bob"]?.state else {
      Issue.record("it does not ring"); return
    }
    #expect(party.peer == "alice" && party.call.count == 14)
    exchange.act("bob", .answer(accept: true))
    #expect(exchange.log == ["bob opens phone", "alice opens phone"])
    exchange.act("bob", .hangUp)
    #expect(exchange.log.suffix(2) == ["bob: hung up", "alice: hung up remotely"])
  }

  @Test(.feature("S2.3")) func `no identifier that we give a call can be one of a PeerJS data connection`() {
    var identifiers: Set<String> = []
    for seed in 0..<500 as Range<UInt64> {
      var board = Switchboard(me: "me", seed: seed)
      var actions = board.handle(.call("bob"), now: .zero)
      _ = board.handle(.join("r"), now: .zero)
      actions += board.handle(.peers(room: "r", ["carol"]), now: .zero)
      for case .line(_, .send(let signal, _)) in actions { identifiers.insert(signal.call) }
    }
    #expect(identifiers.count == 1000)
    #expect(identifiers.allSatisfy { $0.hasPrefix("rc_") && $0.count == 14 })
  }

  @Test(.feature("S0.12")) func `a call that is rejected is over on both sides`() {
    var exchange = Exchange("alice", "bob")
    exchange.act("alice", .call("bob"))
    exchange.act("bob", .answer(accept: false))
    #expect(exchange.log == ["bob: hung up", "alice: rejected"])
  }

  @Test func `a third caller is told that both are busy`() {
    var exchange = Exchange("alice", "bob", "carol")
    exchange.act("alice", .call("bob"))
    exchange.act("carol", .call("bob"))
    exchange.act("carol", .call("alice"))
    #expect(exchange.log == ["carol: busy", "carol: busy"])
  }

  @Test func `who calls nobody hears of it`() {
    var exchange = Exchange("alice")
    exchange.act("alice", .call("nobody"))
    #expect(exchange.log == ["alice: unknown peer"])
  }

  @Test(.feature("S3.1", "S3.34")) func `the newcomer calls everybody, and each pair has one connection`() {
    var exchange = Exchange("alice", "bob", "carol")
    exchange.act("alice", .join("r"))
    exchange.act("alice", .peers(room: "r", []))
    exchange.act("bob", .join("r"))
    exchange.act("alice", .peerJoined(room: "r", peer: "bob"))
    exchange.act("bob", .peers(room: "r", ["alice"]))
    exchange.act("carol", .join("r"))
    for name in ["alice", "bob"] { exchange.act(name, .peerJoined(room: "r", peer: "carol")) }
    exchange.act("carol", .peers(room: "r", ["alice", "bob"]))
    for name in ["alice", "bob", "carol"] {
      let states = exchange.boards[name]?.states(in: "r") ?? [:]
      #expect(states.count == 2)
      #expect(states.values.allSatisfy { if case .connected = $0 { true } else { false } })
    }
    #expect(exchange.log.count { $0.contains("opens") } == 6)
  }

  @Test(.feature("S3.17")) func `one who leaves takes nobody along`() {
    var exchange = Exchange("alice", "bob", "carol")
    for name in ["alice", "bob", "carol"] { exchange.act(name, .join("r")) }
    exchange.act("alice", .peerJoined(room: "r", peer: "bob"))
    exchange.act("bob", .peers(room: "r", ["alice"]))
    for name in ["alice", "bob"] { exchange.act(name, .peerJoined(room: "r", peer: "carol")) }
    exchange.act("carol", .peers(room: "r", ["alice", "bob"]))
    exchange.act("bob", .leave("r"))
    exchange.act("alice", .peerLeft(room: "r", peer: "bob"))
    #expect(exchange.boards["alice"]?.states(in: "r").keys.sorted() == ["carol"])
    #expect(exchange.boards["carol"]?.states(in: "r").keys.sorted() == ["alice"])
    #expect(exchange.boards["bob"]?.states(in: "r") == [:])
    #expect(exchange.log.contains("alice misses bob"))
  }

  @Test func `a hub that was away changes nothing of the calls that stand`() {
    var exchange = Exchange("alice", "bob")
    exchange.act("alice", .join("r"))
    exchange.act("bob", .join("r"))
    exchange.act("alice", .peerJoined(room: "r", peer: "bob"))
    exchange.act("bob", .peers(room: "r", ["alice"]))
    let opened = exchange.log.count
    exchange.act("bob", .peers(room: "r", ["alice"]))
    exchange.act("alice", .peers(room: "r", []))
    #expect(exchange.log.count == opened)
    #expect(exchange.boards["alice"]?.states(in: "r").count == 1)
  }

  @Test func `calls of a room that we are not in are rejected`() {
    var board = Switchboard(me: "me", seed: 1)
    let actions = board.handle(
      .signal(json: CallSignal(call: "c", .ring(room: "r")).json, from: "bob"), now: .zero)
    #expect(actions == [.line(.phone, .send(CallSignal(call: "c", .reject(reason: "rejected")), to: "bob"))])
  }

  @Test func `a room takes calls from its members alone, as the hub names them`() {
    var board = Switchboard(me: "me", seed: 1)
    _ = board.handle(.join("r"), now: .zero)
    _ = board.handle(.peers(room: "r", []), now: .zero)
    let ring = Switchboard.Input.signal(json: CallSignal(call: "c", .ring(room: "r")).json, from: "eve")
    #expect(
      board.handle(ring, now: .zero)
        == [.line(.phone, .send(CallSignal(call: "c", .reject(reason: "rejected")), to: "eve"))])
    #expect(board.peers(in: "r").isEmpty && board.states(in: "r").isEmpty)
    _ = board.handle(.peerJoined(room: "r", peer: "eve"), now: .zero)
    let accepted = Switchboard.Action.line(
      .room("r", peer: "eve"), .send(CallSignal(call: "c", .accept), to: "eve"))
    #expect(board.handle(ring, now: .zero).contains(accepted))
  }

  @Test func `who has seen a call's identifier cannot tell the next`() {
    var (board, same) = (Switchboard(me: "me", seed: 7), Switchboard(me: "me", seed: 7))
    var random = SeededGenerator(seed: 7)
    let raw = (0..<8).map { _ in String(random.next(), radix: 36) }
    var ids: Set<String> = []
    for _ in 0..<4 {
      let actions = board.handle(.call("bob"), now: .zero)
      #expect(actions == same.handle(.call("bob"), now: .zero))
      for case .line(.phone, .send(let signal, _)) in actions { ids.insert(signal.call) }
      _ = (board.handle(.hangUp, now: .zero), same.handle(.hangUp, now: .zero))
    }
    #expect(ids.count == 4)
    // The prefix that PeerJS clients need, and 64 bits.
    for id in ids { #expect(!raw.contains { id.contains($0) } && id.hasPrefix("rc_") && id.utf8.count == 14) }
  }

  @Test func `a room that is full says so, and is not ours`() {
    var board = Switchboard(me: "me", seed: 1)
    _ = board.handle(.join("r"), now: .zero)
    let actions = board.handle(
      .refused(HubRefusal(code: "room-full", message: "The room r is full.", room: "r")), now: .zero)
    #expect(actions == [.notAdmitted(room: "r", "The room r is full.")])
    #expect(board.handle(.peers(room: "r", ["bob"]), now: .zero) == [])
  }

  @Test(arguments: ["", "{", "[]", "7", #"{"call":"c"}"#, #"{"type":"call"}"#, #"{"call":7,"type":"call"}"#])
  func `what cannot be read changes nothing and is counted`(json: String) {
    var board = Switchboard(me: "me", seed: 1)
    #expect(board.handle(.signal(json: json, from: "bob"), now: .zero) == [])
    #expect(board.unreadable == 1)
  }

  @Test func `whatever comes in whatever order, a place holds at most one call and one connection`() {
    for seed in UInt64(1)...60 { storm(seed) }
  }

  private func storm(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var board = Switchboard(me: "m", seed: seed)
    var now = Timestamp.zero
    var open: Set<Switchboard.Line> = []
    var calls = ["x", "y"]
    let bodies: [CallSignal.Body] = [
      .ring(), .ring(room: "r"), .accept, .reject(reason: "busy"), .end, .description(kind: "offer", sdp: "v=0"),
      .mute(kind: "video", isMuted: false),
    ]
    for _ in 0..<400 {
      let peer = ["a", "z", "m"].randomElement(using: &random)!
      let call = calls.randomElement(using: &random)!
      let line = open.sorted { "\($0)" < "\($1)" }.first ?? .phone
      let inputs: [Switchboard.Input] = [
        .call(peer), .answer(accept: true), .answer(accept: false), .hangUp, .join("r"), .leave("r"),
        .signal(json: CallSignal(call: call, bodies.randomElement(using: &random)!).json, from: peer),
        .signal(json: CallSignal(call: call, .accept).json, from: peer),
        .candidate(nil, from: peer, call: nil), .bye(from: peer, call: call), .peers(room: "r", ["a", "z"]),
        .peerJoined(room: "r", peer: peer), .peerLeft(room: "r", peer: peer), .connected(line),
        .connectionClosed(line), .connectionLost(line, "x"), .connectionFailed(line, "x"), .deadline,
        .refused(HubRefusal(code: "unknown-peer", message: "", peer: peer)),
      ]
      now = now + .milliseconds(Int64.random(in: 0...4_000, using: &random))
      for action in board.handle(inputs.randomElement(using: &random)!, now: now) {
        guard case .line(let line, let action) = action else { continue }
        switch action {
        case .open(let party, _):
          #expect(open.insert(line).inserted, "seed \(seed)")
          calls.append(party.call)
        case .close: #expect(open.remove(line) != nil, "seed \(seed)")
        case .pass: #expect(open.contains(line), "seed \(seed)")
        case .send(_, let peer), .hangUp(let peer, _): #expect(peer != "m", "seed \(seed)")
        case .state, .muted, .misuse: break
        }
        if calls.count > 8 { calls.removeFirst() }
      }
    }
  }
}
