import RTCPrimitives
import RTCSignaling
import Synchronization
import Testing

/// A presence that grants every claim, and keeps the messages for other hubs.
private final class SharedPresence: Presence {
  private let messages = Mutex<[PresenceMessage]>([])
  private let notes = Mutex<[String]>([])
  private let answer: PresenceAnswer
  var keepsMessages: Bool { true }

  init(_ answer: PresenceAnswer = .granted) { self.answer = answer }

  func claim(_ claim: PresenceClaim) -> PresenceAnswer? { answer }
  func collectMessages(for name: String) { notes.withLock { $0.append("collect \(name)") } }
  func noteAbsence(of name: String) { notes.withLock { $0.append("\(name) is away") } }
  func confirm(_ number: Int64, for name: String) { notes.withLock { $0.append("\(name) has \(number)") } }

  /// The other calls since the last call of this function.
  func takeNotes() -> [String] {
    notes.withLock { notes in
      defer { notes = [] }
      return notes
    }
  }

  func release(_ subject: PresenceClaim.Subject) {}
  func pass(_ message: PresenceMessage) { messages.withLock { $0.append(message) } }

  /// The messages since the last call.
  func take() -> [PresenceMessage] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}

/// Peers of other hubs, as a presence reports them.
@Suite struct RemotePeerTests {
  private let presence = SharedPresence()

  private func bench(_ change: (inout HubLimits) -> Void = { _ in }) -> HubBench {
    var bench = HubBench(presence: presence, change)
    bench.enter(1, as: "alice")
    return bench
  }

  private func text(_ message: PresenceMessage?) -> String? {
    guard case .request(.native, let bytes)? = message?.body else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `they are in lists, and followers are told when they come and go`() {
    var bench = bench()
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.handle(.presence(.remote(RemotePeer("bob", isAbsent: true))))
    bench.handle(.presence(.remote(RemotePeer("hidden", isListed: false))))
    bench.say(1, #"{"type":"list","follow":true}"#)
    bench.handle(.presence(.gone("bob")))
    #expect(
      bench.take(1) == [
        #"{"type":"present","peers":[]}"#, #"{"type":"peer-arrived","peer":"bob"}"#,
        #"{"type":"present","peers":["bob"]}"#,
        #"{"type":"peer-gone","peer":"bob"}"#,
      ])
    #expect(bench.hub.counters.remotePeers == 1)
  }

  @Test func `messages are passed on, also to a peer whose hub has failed, and kept while the others are not reached`()
  {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    bench.handle(.presence(.remote(RemotePeer("bob", isAbsent: true))))
    bench.say(1, #"{"type":"signal","to":"bob","data":2}"#)
    #expect(presence.take().map(text) == [1, 2].map { #"{"type":"signal","to":"bob","data":\#($0)}"# })
    bench.handle(.presence(.connected(false)))
    bench.say(1, #"{"type":"signal","to":"bob","data":3}"#)
    #expect(presence.take().isEmpty && bench.hub.counters.isDegraded)
    bench.handle(.presence(.connected(true)))
    let sent = presence.take()
    #expect(sent.map(text) == [#"{"type":"signal","to":"bob","data":3}"#])
    bench.handle(.presence(.connected(false)))
    for message in sent { bench.handle(.presence(.returned(message))) }
    bench.pass(.seconds(Int64(31)))
    #expect(errorCode(bench.take(1).last) == "unknown-peer")
  }

  /// A message of bob, of another hub.
  private func letter(_ data: Int, to name: String, _ number: Int64, after previous: Int64 = 0) -> PresenceLetter {
    let bytes = Array(#"{"type":"signal","to":"\#(name)","data":\#(data)}"#.utf8)
    return PresenceLetter(
      PresenceMessage(from: "bob", to: name, .request(.native, bytes)), number: number, previous: previous)
  }

  private func delivered(_ data: Int...) -> [String] { data.map { #"{"type":"signal","from":"bob","data":\#($0)}"# } }

  @Test func `their messages are delivered once and in order, and faults are told`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.handle(.presence(.letter(letter(1, to: "alice", 7))))
    bench.handle(.presence(.letter(letter(1, to: "alice", 7))))
    #expect(bench.take(1) == delivered(1) && presence.takeNotes() == ["alice has 7"])
    bench.handle(.presence(.letter(letter(1, to: "nobody", 8))))
    #expect(presence.takeNotes().isEmpty, "it waits for a peer of another hub")
    // The message 9 was missed.
    bench.handle(.presence(.letter(letter(3, to: "alice", 10, after: 9))))
    bench.handle(.presence(.letter(letter(4, to: "alice", 11, after: 10))))
    #expect(bench.take(1).isEmpty && presence.takeNotes() == ["collect alice"])
    let all = (7...11).filter { $0 != 8 }.map { letter([7: 1, 9: 2, 10: 3, 11: 4][$0] ?? 0, to: "alice", $0) }
    bench.handle(.presence(.collected("alice", all)))
    #expect(bench.take(1) == delivered(2, 3, 4) && presence.takeNotes() == ["alice has 11"])
    bench.handle(.presence(.message(PresenceMessage(from: "bob", to: "alice", .incompatible("bob")))))
    #expect(errorCode(bench.take(1).last) == "incompatible")
  }

  @Test func `a peer that has lost its connection gets what waits elsewhere when it returns, before what is said then`()
  {
    var bench = bench()
    bench.enter(2, as: "carol")
    bench.close(2, .lost)
    #expect(presence.takeNotes() == ["carol is away"])
    bench.say(1, #"{"type":"signal","to":"carol","data":1}"#)
    let waiting = presence.take()
    #expect(waiting.map(text) == [#"{"type":"signal","to":"carol","data":1}"#])
    bench.handle(.presence(.letter(letter(2, to: "carol", 2))))
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"carol","secret":"02020202020202020202020202020202"}"#)
    #expect(presence.takeNotes() == ["collect carol"])
    _ = bench.take(3)
    bench.say(1, #"{"type":"signal","to":"carol","data":3}"#)
    #expect(bench.take(3).isEmpty && presence.take().isEmpty)
    bench.handle(
      .presence(.collected("carol", [PresenceLetter(waiting[0], number: 1), letter(2, to: "carol", 2)])))
    func signal(_ sender: String, _ data: Int) -> String { #"{"type":"signal","from":"\#(sender)","data":\#(data)}"# }
    #expect(bench.take(3) == [signal("alice", 1), signal("bob", 2), signal("alice", 3)])
    #expect(presence.takeNotes() == ["carol has 2"])
    bench.say(1, #"{"type":"signal","to":"carol","data":4}"#)
    #expect(bench.take(3) == [signal("alice", 4)])
  }

  @Test func `a peer that returns while the others are not reached gets what this hub holds`() {
    var bench = bench()
    bench.enter(2, as: "carol")
    bench.close(2, .lost)
    bench.handle(.presence(.connected(false)))
    bench.say(1, #"{"type":"signal","to":"carol","data":1}"#)
    #expect(presence.take().isEmpty)
    bench.handle(.presence(.connected(true)))
    #expect(presence.take().count == 1)
    bench.open(3)
    bench.say(3, #"{"type":"register","id":"carol","secret":"02020202020202020202020202020202"}"#)
    bench.say(1, #"{"type":"signal","to":"carol","data":2}"#)
    _ = presence.takeNotes()
    bench.handle(.presence(.connected(false)))
    #expect(bench.take(3).last == #"{"type":"signal","from":"alice","data":2}"#)
    bench.say(1, #"{"type":"signal","to":"carol","data":3}"#)
    #expect(bench.take(3).last == #"{"type":"signal","from":"alice","data":3}"#)
  }

  @Test func `a peer that comes from another hub gets what waits there first`() {
    let presence = SharedPresence(.moved(rooms: []))
    var bench = HubBench(presence: presence)
    bench.enter(1, as: "alice")
    bench.handle(.presence(.letter(letter(2, to: "alice", 2))))
    #expect(bench.take(1).isEmpty)
    bench.handle(.presence(.collected("alice", [letter(1, to: "alice", 1), letter(2, to: "alice", 2)])))
    #expect(bench.take(1) == delivered(1, 2))
  }

  @Test func `rooms have members of other hubs`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob", rooms: ["den"]))))
    bench.say(1, #"{"type":"join","room":"den"}"#)
    #expect(bench.take(1) == [#"{"type":"peers","room":"den","peers":["bob"]}"#])
    bench.handle(.presence(.remote(RemotePeer("carol"))))
    bench.handle(.presence(.entered(room: "den", "carol")))
    bench.handle(.presence(.left(room: "den", "bob")))
    bench.handle(.presence(.gone("carol")))
    #expect(
      bench.take(1) == [
        #"{"type":"peer-joined","room":"den","peer":"carol"}"#, #"{"type":"peer-left","room":"den","peer":"bob"}"#,
        #"{"type":"peer-left","room":"den","peer":"carol"}"#,
      ])
  }

  @Test func `an owner that moves to another hub keeps its places, and its old connection ends`() {
    var bench = bench()
    bench.enter(2, as: "bob")
    for client in 1...2 { bench.say(client, #"{"type":"join","room":"den"}"#) }
    _ = (bench.take(1), bench.take(2))
    bench.handle(.presence(.remote(RemotePeer("bob", rooms: ["den"]))))
    #expect(bench.closings[2] == 4000 && bench.take(1).isEmpty)
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(presence.take().map(\.to) == ["bob"])
    #expect(bench.hub.counters.peers == 1 && bench.hub.counters.remotePeers == 1)
  }

  @Test func `a name that was given to another client is not served any more`() {
    var bench = bench()
    bench.enter(2, as: "bob")
    bench.say(1, #"{"type":"list","follow":true}"#)
    _ = bench.take(1)
    bench.handle(.presence(.lost("bob")))
    #expect(errorCode(bench.take(2).last) == "lost-name" && bench.closings[2] == 1008)
    #expect(bench.take(1) == [#"{"type":"peer-gone","peer":"bob"}"#])
  }

  @Test func `messages for which a connection has no room stay where they are kept, and are read later`() {
    var bench = bench { $0.outgoingBytes = 4_096 }
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.stuck = [1]
    let all = (1...100).map { letter($0, to: "alice", Int64($0)) }
    bench.handle(.presence(.collected("alice", all)))
    let first = bench.take(1)
    #expect(first == (1...first.count).map { delivered($0)[0] } && (10..<100).contains(first.count))
    #expect(presence.takeNotes() == ["alice has \(first.count)"] && bench.closings.isEmpty)
    bench.handle(.presence(.letter(letter(101, to: "alice", 101))))
    #expect(bench.take(1).isEmpty && presence.takeNotes().isEmpty)
    bench.enter(2, as: "carol")
    bench.say(2, #"{"type":"signal","to":"alice","data":0}"#)
    bench.stuck = []
    bench.handle(.drained(bench.id(1), bytes: first.reduce(0) { $0 + $1.utf8.count }))
    var got = first
    while presence.takeNotes().contains("collect alice") {
      bench.handle(.presence(.collected("alice", Array(all.dropFirst(got.count)))))
      got += bench.take(1)
    }
    #expect(got == all.indices.map { delivered($0 + 1)[0] } + [#"{"type":"signal","from":"carol","data":0}"#])
  }

  @Test func `a message that comes by itself waits if the connection has no room`() {
    var bench = bench { $0.outgoingBytes = 4_096 }
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.stuck = [1]
    for number in 1...100 {
      let number = Int64(number)
      bench.handle(.presence(.letter(letter(Int(number), to: "alice", number, after: number - 1))))
    }
    let first = bench.take(1)
    #expect((10..<100).contains(first.count) && bench.closings.isEmpty)
    #expect(presence.takeNotes() == (1...first.count).map { "alice has \($0)" })
    bench.handle(.drained(bench.id(1), bytes: 4_096))
    #expect(presence.takeNotes() == ["collect alice"])
    bench.handle(.presence(.collected("alice", [letter(first.count + 1, to: "alice", Int64(first.count) + 1)])))
    #expect(bench.take(1) == delivered(first.count + 1))
  }

  @Test func `a message that has come back is older than one that has not left`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    for number in 1...2 { bench.say(1, #"{"type":"signal","to":"bob","data":\#(number)}"#) }
    let sent = presence.take()
    bench.handle(.presence(.connected(false)))
    bench.say(1, #"{"type":"signal","to":"bob","data":3}"#)
    for message in sent { bench.handle(.presence(.returned(message))) }
    bench.handle(.presence(.connected(true)))
    #expect(presence.take().map(text) == (1...3).map { #"{"type":"signal","to":"bob","data":\#($0)}"# })
  }

  @Test func `a message does not overtake one that has come back`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    for message in presence.take() { bench.handle(.presence(.returned(message))) }
    bench.say(1, #"{"type":"signal","to":"bob","data":2}"#)
    #expect(presence.take().isEmpty)
    bench.handle(.presence(.connected(true)))
    #expect(
      presence.take().map(text) == [1, 2].map { #"{"type":"signal","to":"bob","data":\#($0)}"# })
  }
}
