import RTCCluster
import RTCPrimitives
import RTCSignaling
import Testing

/// One hub's machine, by its actions.
@Suite struct ClusterMachineTests {
  private typealias Machine = ClusterMachine

  /// A machine that is online, with the change 5 as its last.
  private func online() -> Machine {
    var machine = Machine(hub: "me", prefix: "{t}", roomMembers: 4)
    for action in machine.handle(.connected, now: .zero) {
      switch action {
      case .run(let id, .beat, _):
        _ = machine.handle(.reply(id, .list([text("e"), .number(5), .number(0)])), now: .zero)
      case .run(let id, .state, _):
        _ = machine.handle(.reply(id, .list([text("e"), .number(5), .number(0)])), now: .zero)
      default: break
      }
    }
    #expect(machine.isOnline)
    return machine
  }

  private func text(_ text: String) -> RESPValue { .text(Array(text.utf8)) }

  private func scripts(_ actions: [Machine.Action]) -> [ClusterScript] {
    actions.compactMap { if case .run(_, let script, _) = $0 { script } else { nil } }
  }

  private func events(_ actions: [Machine.Action]) -> [PresenceEvent] {
    actions.compactMap { if case .report(let event) = $0 { event } else { nil } }
  }

  private func placed(_ sequence: Int) -> [UInt8] {
    Array(#"{"k":"at","q":\#(sequence),"n":"bob","h":"other","f":"7","s":"aa","l":true,"d":"hub"}"#.utf8)
  }

  @Test func `changes are taken in order, and a gap makes the hub read the state again`() {
    var machine = online()
    #expect(
      events(machine.handle(.published(channel: "{t}:changes", placed(6)), now: .zero)) == [.remote(RemotePeer("bob"))])
    #expect(machine.handle(.published(channel: "{t}:changes", placed(6)), now: .zero).isEmpty, "an old change")
    let actions = machine.handle(.published(channel: "{t}:changes", placed(8)), now: .zero)
    #expect(scripts(actions) == [.links, .state, .streams] && machine.rereads == 1)
  }

  @Test func `while Redis is away, names stay and claims are refused`() throws {
    var machine = online()
    var claim = PresenceClaim(id: .init(rawValue: 1), subject: .name("alice"))
    claim.secret = "secret of alice"
    guard case .run(let id, .claim, let arguments)? = machine.handle(.claim(claim), now: .zero).first else {
      Issue.record("no script runs")
      return
    }
    #expect(!arguments.contains { $0.contains("secret of alice") }, "Redis does not learn the secret")
    let reply = RESPValue.list([text("granted"), text("9"), text("new")])
    #expect(events(machine.handle(.reply(id, reply), now: .zero)) == [.answered(claim.id, .granted)])
    #expect(events(machine.handle(.disconnected, now: .zero)) == [.connected(false)])
    claim.id = .init(rawValue: 2)
    claim.subject = .name("bob")
    #expect(events(machine.handle(.claim(claim), now: .zero)) == [.answered(claim.id, .unavailable)])
    #expect(machine.held.keys.sorted() == ["alice"])
    // Redis may give the name away after this time.
    let end = try #require(machine.deadline)
    #expect(end == .zero + .seconds(Int64(600)))
    #expect(events(machine.handle(.deadline, now: end)) == [.lost("alice")])
    #expect(machine.held.isEmpty && machine.deadline == nil)
  }

  @Test func `a Redis that does not answer is given up, and its messages are sent again under their numbers`() {
    var machine = online()
    _ = machine.handle(.published(channel: "{t}:changes", placed(6)), now: .zero)
    let message = PresenceMessage(from: "alice", to: "bob", .request(.native, Array("{}".utf8)))
    #expect(scripts(machine.handle(.pass(message), now: .zero)) == [.post])
    var ended: [PresenceEvent] = []
    for second in 1...5 { ended += events(machine.handle(.deadline, now: .zero + .seconds(Int64(second)))) }
    #expect(ended == [.connected(false)])
    var posts: [[String]] = []
    for action in machine.handle(.connected, now: .zero + .seconds(Int64(6))) {
      if case .run(_, .post, let arguments) = action { posts.append(arguments) }
    }
    #expect(posts.map { $0.prefix(3) } == [["me", "1", "bob"]])
    // Later the sender learns that it was not delivered.
    _ = machine.handle(.disconnected, now: .zero + .seconds(Int64(6)))
    #expect(machine.deadline == .zero + .seconds(Int64(30)))
    let unknown = PresenceMessage(from: "bob", to: "alice", .unknownPeer("bob"))
    #expect(events(machine.handle(.deadline, now: .zero + .seconds(Int64(30)))) == [.message(unknown)])
    #expect(events(machine.handle(.pass(message), now: .zero + .seconds(Int64(31)))) == [.returned(message)])
  }

  @Test func `messages go out in their order while the state is read again`() {
    var machine = online()
    for sequence in [6, 8] { _ = machine.handle(.published(channel: "{t}:changes", placed(sequence)), now: .zero) }
    #expect(!machine.isOnline)
    let message = PresenceMessage(from: "alice", to: "bob", .request(.native, Array("{}".utf8)))
    #expect(scripts(machine.handle(.pass(message), now: .zero)) == [.post])
  }

  @Test func `messages that Redis does not answer have a limit`() throws {
    var machine = online()
    _ = machine.handle(.published(channel: "{t}:changes", placed(6)), now: .zero)
    let half = Array(repeating: UInt8(ascii: "1"), count: HubLimits().heldBytes / 2)
    let message = PresenceMessage(from: "alice", to: "bob", .request(.native, half))
    let unknown = PresenceEvent.message(PresenceMessage(from: "bob", to: "alice", .unknownPeer("bob")))
    guard case .run(let id, .post, _)? = machine.handle(.pass(message), now: .zero).first else {
      Issue.record("no script runs")
      return
    }
    #expect(scripts(machine.handle(.pass(message), now: .zero)) == [.post])
    #expect(events(machine.handle(.pass(message), now: .zero)) == [unknown])
    _ = machine.handle(.reply(id, .list([text("posted")])), now: .zero)
    #expect(scripts(machine.handle(.pass(message), now: .zero)) == [.post])
    // Two messages are given up, and leave room for two.
    _ = machine.handle(.disconnected, now: .zero)
    let later = Timestamp.zero + .seconds(Int64(30))
    #expect(events(machine.handle(.deadline, now: later)) == [unknown, unknown])
    _ = machine.handle(.connected, now: later)
    for _ in 0..<2 { #expect(scripts(machine.handle(.pass(message), now: later)) == [.post]) }
    #expect(events(machine.handle(.pass(message), now: later)) == [unknown])
  }

  @Test func `the place of a server is sent with the first sign of life of a connection`() {
    var machine = Machine(hub: "me", prefix: "{t}", roomMembers: 4)
    func beats(_ actions: [Machine.Action]) -> [[String]] {
      actions.compactMap { if case .run(_, .beat, let arguments) = $0 { arguments } else { nil } }
    }
    _ = machine.handle(.primary("10.0.0.1:6379"), now: .zero)
    #expect(beats(machine.handle(.connected, now: .zero)) == [["me", "10.0.0.1:6379"]])
    #expect(beats(machine.handle(.deadline, now: .zero + .seconds(Int64(1)))) == [["me"]])
  }

  @Test func `a hub that states a name anew gets the messages that did not reach it`() {
    var machine = online()
    for sequence in [6, 7] {
      let actions = machine.handle(.published(channel: "{t}:changes", placed(sequence)), now: .zero)
      #expect(events(actions) == [.remote(RemotePeer("bob"))])
    }
  }

  @Test func `a hub that meets another format gives the connection up and says so`() {
    var machine = Machine(hub: "me", prefix: "{t}", roomMembers: 4)
    guard case .run(let id, .beat, _)? = machine.handle(.connected, now: .zero).first else {
      Issue.record("no script runs")
      return
    }
    let actions = machine.handle(.reply(id, .list([text("format"), text("9")])), now: .zero)
    guard case .disconnect(.otherFormat("9"))? = actions.first else {
      Issue.record("the hub stays: \(actions)")
      return
    }
    #expect(!machine.isOnline)
  }

  @Test func `wrong credentials at other hubs are reported, and not this hub's own`() throws {
    var machine = online()
    guard case .publish(_, let channel, let text)? = machine.handle(.wrongTry("192.0.2.1"), now: .zero).first else {
      Issue.record("nothing is published")
      return
    }
    #expect(machine.channels.contains(channel))
    #expect(events(machine.handle(.published(channel: channel, Array(text.utf8)), now: .zero)).isEmpty)
    let others = text.replacing("\"me\"", with: "\"other\"")
    #expect(
      events(machine.handle(.published(channel: channel, Array(others.utf8)), now: .zero)) == [.wrongTry("192.0.2.1")])
  }

  @Test func `a name that Redis keeps for somebody else is lost`() throws {
    var machine = online()
    var claim = PresenceClaim(id: .init(rawValue: 1), subject: .name("alice"))
    claim.secret = "secret of alice"
    guard case .run(let id, .claim, _)? = machine.handle(.claim(claim), now: .zero).first else {
      Issue.record("no script runs")
      return
    }
    _ = machine.handle(.reply(id, .list([text("granted"), text("9"), text("new")])), now: .zero)
    _ = machine.handle(.disconnected, now: .zero)
    var keeps: [UInt64] = []
    for action in machine.handle(.connected, now: .zero + .seconds(5)) {
      if case .run(let id, .keep, _) = action { keeps.append(id) }
    }
    let keep = try #require(keeps.first)
    // A hub that Redis does not know yet states its names again.
    #expect(machine.held.keys.sorted() == ["alice"])
    let lost = machine.handle(.reply(keep, .list([text("lost")])), now: .zero + .seconds(5))
    #expect(events(lost) == [.lost("alice")] && machine.held.isEmpty)
  }
}
