import RTCPrimitives
import RTCSignaling
import Synchronization
import Testing

/// A presence that answers when the test does.
private final class LatePresence: Presence {
  private struct State {
    var waiting: [PresenceClaim] = []
    var held: Set<PresenceClaim.Subject> = []
  }

  private let state = Mutex(State())
  /// Claims without an answer.
  var waiting: [PresenceClaim] { state.withLock { $0.waiting } }
  /// Claims that were made and not released.
  var held: Set<PresenceClaim.Subject> { state.withLock { $0.held } }

  func claim(_ claim: PresenceClaim) -> PresenceAnswer? {
    state.withLock { state in
      state.waiting.append(claim)
      #expect(state.held.insert(claim.subject).inserted, "\(claim.subject) is claimed twice")
    }
    return nil
  }

  func release(_ subject: PresenceClaim.Subject) {
    state.withLock { state in
      state.held.remove(subject)
      state.waiting.removeAll { $0.subject == subject }
    }
  }

  /// Answers the oldest claim.
  func answer(_ answer: PresenceAnswer, _ bench: inout HubBench) throws {
    let claim = try #require(waiting.first)
    state.withLock { state in
      state.waiting.removeFirst()
      if answer != .granted { state.held.remove(claim.subject) }
    }
    bench.handle(.presence(.answered(claim.id, answer)))
  }
}

/// A presence by which another hub has every name.
private final class FullPresence: Presence {
  private let answer: PresenceAnswer
  init(_ answer: PresenceAnswer) { self.answer = answer }
  func claim(_ claim: PresenceClaim) -> PresenceAnswer? { answer }
  func release(_ subject: PresenceClaim.Subject) {}
}

/// Names and rooms that a hub shares with others: it serves them once the presence has granted them.
@Suite struct PresenceClaimTests {
  private static let register = #"{"type":"register","id":"alice","secret":"0123456789abcdef"}"#

  private func kinds(_ texts: [String]) -> [String] {
    texts.map { text in text.split(separator: "\"").dropFirst(3).first.map(String.init) ?? text }
  }

  @Test func `a name is served once its claim is granted, and requests that came meanwhile are performed then`() throws
  {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    bench.open(1)
    bench.say(1, Self.register)
    bench.say(1, #"{"type":"join","room":"r"}"#)
    bench.say(1, #"{"type":"ping"}"#)
    #expect(kinds(bench.take(1)) == ["pong"])
    #expect(presence.waiting.map(\.subject) == [.name("alice")] && presence.waiting[0].client == "0123456789abcdef")
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"bob"}"#)
    #expect(bench.hub.counters.peers == 0 && bench.events.isEmpty)
    try presence.answer(.granted, &bench)
    #expect(kinds(bench.take(1)) == ["registered"] && bench.hub.counters.rooms == 0)
    #expect(presence.waiting.map(\.subject) == [.name("bob"), .room("r", peer: "alice")])
    try presence.answer(.granted, &bench)
    bench.say(2, #"{"type":"list"}"#)
    bench.say(2, #"{"type":"signal","to":"alice","data":1}"#)
    #expect(bench.take(2).count == 2)
    #expect(bench.take(1).last?.contains(#""data":1"#) == true)
    try presence.answer(.granted, &bench)
    #expect(bench.take(1) == [#"{"type":"peers","room":"r","peers":[]}"#] && bench.hub.counters.rooms == 1)
    bench.close(1)
    bench.close(2)
    #expect(presence.held.isEmpty)
  }

  @Test func `a name that is not granted yet cannot be called or taken`() throws {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"bob"}"#)
    try presence.answer(.granted, &bench)
    bench.open(2)
    bench.say(2, Self.register)
    _ = bench.take(1)
    bench.say(1, #"{"type":"signal","to":"alice","data":1}"#)
    #expect(errorCode(bench.take(1).last) == "unknown-peer")
    bench.say(1, #"{"type":"list"}"#)
    #expect(bench.take(1).last?.contains("alice") == false)
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"alice","secret":"fedcba9876543210"}"#)
    #expect(errorCode(bench.take(3).last) == "taken-name")
    // A second connection of one client takes the place of its first.
    bench.open(4)
    bench.say(4, Self.register)
    #expect(bench.closings[2] == 4000 && presence.waiting.count == 1)
    try presence.answer(.granted, &bench)
    #expect(kinds(bench.take(4)) == ["registered"])
  }

  @Test(arguments: [
    (PresenceAnswer.taken, "taken-name"), (.usedUp, "link-used-up"), (.revoked, "link-revoked"),
    (.full, "too-many-peers"),
  ])
  func `a name that is refused later is not served, and its link may be used again`(
    answer: PresenceAnswer, code: String
  ) throws {
    let presence = LatePresence()
    let secret = AccessToken("0123456789abcdef0123456789abcdef")!
    let link = SignedLink(.call, issued: HubBench.start, uses: 1)
    var bench = HubBench(gate: AccessGate(secret: secret), presence: presence)
    for client in 1...2 {
      bench.open(client)
      bench.say(client, #"{"type":"register","id":"n\#(client)","token":"\#(link.signed(with: secret))"}"#)
      #expect(presence.waiting.map(\.link?.id) == [link.id])
      try presence.answer(answer, &bench)
      #expect(errorCode(bench.take(client).last) == code)
    }
    #expect(bench.hub.counters.peers == 0 && bench.events.isEmpty && presence.held.isEmpty)
    #expect(!bench.audited.contains { $0.decision == .admitted })
    #expect(bench.audited.count == ([.usedUp, .revoked].contains(answer) ? 2 : 0))
  }

  @Test func `a name that is refused at once is not served`() {
    var bench = HubBench(presence: FullPresence(.taken))
    bench.open(1)
    bench.say(1, Self.register)
    #expect(errorCode(bench.take(1).last) == "taken-name")
    bench.open(2, .peerJS, query: ["id": "carol", "token": "t", "key": "peerjs"])
    #expect(bench.closings[2] != nil)
    #expect(bench.hub.counters.peers == 0 && bench.events.isEmpty)
  }

  @Test(arguments: [HubParting.goodbye, .lost]) func `nothing is left of a peer that leaves before the answer`(
    parting: HubParting
  ) throws {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    bench.open(1)
    bench.say(1, Self.register)
    bench.say(1, #"{"type":"join","room":"r"}"#)
    let late = try #require(presence.waiting.first)
    bench.close(1, parting)
    #expect(presence.held.isEmpty && presence.waiting.isEmpty)
    // The next client claims the name anew, and the answer to the first is not taken for its own.
    bench.open(2)
    bench.say(2, Self.register)
    bench.handle(.presence(.answered(late.id, .granted)))
    #expect(bench.take(2).isEmpty && bench.hub.counters.peers == 0)
    try presence.answer(.granted, &bench)
    #expect(kinds(bench.take(2)) == ["registered"])
    bench.close(2)
    #expect(presence.held.isEmpty)
    bench.pass(.seconds(Int64(120)))
    #expect(bench.hub.counters.peers == 0 && bench.hub.counters.connections == 0 && bench.hub.deadline == nil)
  }

  @Test func `a client whose claim is never answered is closed, and may come again`() {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    bench.open(1)
    bench.say(1, Self.register)
    bench.pass(.seconds(Int64(60)))
    #expect(errorCode(bench.take(1).last) == "never-registered" && bench.closings[1] != nil)
    #expect(presence.held.isEmpty && bench.hub.deadline == nil)
  }

  @Test func `a place in a room is served once it is granted, and not if the peer leaves before`() throws {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    for (client, name) in [(1, "alice"), (2, "bob")] {
      bench.open(client)
      bench.say(client, #"{"type":"register","id":"\#(name)"}"#)
      try presence.answer(.granted, &bench)
      _ = bench.take(client)
    }
    for client in 1...2 {
      bench.say(client, #"{"type":"join","room":"r"}"#)
      bench.say(client, #"{"type":"join","room":"r"}"#)
    }
    #expect(presence.waiting.count == 2 && bench.take(1).isEmpty)
    try presence.answer(.granted, &bench)
    #expect(kinds(bench.take(1)) == ["peers"])
    let late = try #require(presence.waiting.first)
    bench.say(2, #"{"type":"leave","room":"r"}"#)
    bench.handle(.presence(.answered(late.id, .granted)))
    #expect(bench.take(1).isEmpty && bench.take(2).isEmpty, "bob never was in the room")
    bench.say(2, #"{"type":"join","room":"r"}"#)
    try presence.answer(.full, &bench)
    #expect(errorCode(bench.take(2).last) == "room-full")
    bench.say(2, #"{"type":"join","room":"r"}"#)
    bench.close(2)
    #expect(presence.waiting.isEmpty && presence.held == [.name("alice"), .room("r", peer: "alice")])
    bench.handle(.shutdown)
    #expect(presence.held.isEmpty)
  }

  @Test func `a client of SkyRTC enters its room once its name is granted`() throws {
    let presence = LatePresence()
    var bench = HubBench(presence: presence)
    bench.open(1, .skyRTC)
    bench.say(1, #"{"eventName":"__join","data":{"room":"r"}}"#)
    #expect(bench.take(1).isEmpty)
    try presence.answer(.granted, &bench)
    try presence.answer(.granted, &bench)
    #expect(bench.take(1).contains { $0.contains("_peers") } && bench.hub.counters.rooms == 1)
    bench.close(1)
    #expect(presence.held.isEmpty)
  }
}
