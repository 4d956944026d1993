import RTCPrimitives
import RTCSignaling
import Synchronization
import Testing

/// A presence that grants every claim, and keeps the messages for other hubs.
private final class SharedPresence: Presence {
  private let messages = Mutex<[PresenceMessage]>([])

  func claim(_ claim: PresenceClaim) -> PresenceAnswer? { .granted }
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

  private func bench() -> HubBench {
    var bench = HubBench(presence: presence)
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

  @Test func `messages are passed to their hub, and kept while it is away`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    #expect(presence.take().map(text) == [#"{"type":"signal","to":"bob","data":1}"#])
    bench.handle(.presence(.remote(RemotePeer("bob", isAbsent: true))))
    bench.say(1, #"{"type":"signal","to":"bob","data":2}"#)
    #expect(presence.take().isEmpty)
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    #expect(presence.take().map(text) == [#"{"type":"signal","to":"bob","data":2}"#])
    bench.handle(.presence(.connected(false)))
    bench.say(1, #"{"type":"signal","to":"bob","data":3}"#)
    #expect(presence.take().isEmpty && bench.hub.counters.isDegraded)
    bench.handle(.presence(.connected(true)))
    let sent = presence.take()
    #expect(sent.map(text) == [#"{"type":"signal","to":"bob","data":3}"#])
    bench.handle(.presence(.remote(RemotePeer("bob", isAbsent: true))))
    for message in sent { bench.handle(.presence(.returned(message))) }
    bench.pass(.seconds(Int64(31)))
    #expect(errorCode(bench.take(1).last) == "unknown-peer")
  }

  @Test func `their messages are delivered, and faults go back to their hub`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    func receive(_ to: String, hops: Int = 0) {
      let bytes = Array(#"{"type":"signal","to":"\#(to)","data":1}"#.utf8)
      bench.handle(.presence(.message(PresenceMessage(from: "bob", to: to, .request(.native, bytes), hops: hops))))
    }
    receive("alice")
    #expect(bench.take(1) == [#"{"type":"signal","from":"bob","data":1}"#])
    receive("nobody")
    #expect(presence.take() == [PresenceMessage(from: "nobody", to: "bob", .unknownPeer("nobody"))])
    // A peer that has moved again and again is not followed without end.
    bench.handle(.presence(.remote(RemotePeer("carol"))))
    receive("carol", hops: 1)
    #expect(presence.take().map(\.hops) == [2])
    receive("carol", hops: 2)
    #expect(presence.take().map(\.body) == [.unknownPeer("carol")])
    bench.handle(.presence(.message(PresenceMessage(from: "bob", to: "alice", .incompatible("bob")))))
    #expect(errorCode(bench.take(1).last) == "incompatible")
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

  @Test func `a message does not overtake one that has come back`() {
    var bench = bench()
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    bench.say(1, #"{"type":"signal","to":"bob","data":1}"#)
    for message in presence.take() { bench.handle(.presence(.returned(message))) }
    bench.say(1, #"{"type":"signal","to":"bob","data":2}"#)
    #expect(presence.take().isEmpty)
    bench.handle(.presence(.remote(RemotePeer("bob"))))
    #expect(
      presence.take().map(text) == [1, 2].map { #"{"type":"signal","to":"bob","data":\#($0)}"# })
  }
}
