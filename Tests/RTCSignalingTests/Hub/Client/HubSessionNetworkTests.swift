import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

/// The reaction of a session to the return of the machine's network.
@Suite struct HubSessionNetworkTests {
  private var session = HubSession(
    address: HubAddress("ws://hub.example")!, name: "alice", token: nil, secret: "0123456789abcdef0123456789abcdef",
    seed: 1)
  private let registered: [UInt8] = Array(
    #"{"type":"registered","id":"alice","secret":"s","resumed":false,"rooms":[],"iceServers":[]}"#.utf8)

  private mutating func register(_ now: Timestamp) {
    _ = session.handle(.opened, now: now)
    _ = session.handle(.received(registered), now: now)
  }

  @Test(.feature("S0.56")) mutating func `the pause before the next attempt ends when the network is back`() {
    #expect(session.handle(.networkReturned, now: .zero) == [])
    _ = session.handle(.start, now: .zero)
    #expect(session.handle(.networkReturned, now: .zero) == [])
    register(.zero)
    _ = session.handle(.closed(code: nil), now: .zero)
    // Attempts in vain have made the pause long.
    var now = Timestamp.zero
    for _ in 0..<8 {
      now = session.deadline ?? now
      #expect(session.handle(.deadline, now: now).contains(.connect))
      _ = session.handle(.failed(.connectionLost(reason: "test")), now: now)
    }
    #expect(session.deadline.map { $0 - now > .seconds(10) } == true)
    #expect(session.handle(.networkReturned, now: now) == [.connect])
    register(now)
    #expect(!session.hasEnded)
  }

  @Test(.feature("S0.56"))
  mutating func `a connection is asked for a sign of life, and is given up in time without one`() {
    _ = session.handle(.start, now: .zero)
    register(.zero)
    #expect(session.handle(.networkReturned, now: .zero) == [.ping])
    #expect(session.handle(.networkReturned, now: .zero) == [])
    #expect(session.deadline == .zero + .seconds(1))
    let given = session.handle(.deadline, now: .zero + .seconds(1))
    #expect(given.first == .disconnect && given.last == .connect)
    _ = session.handle(.close, now: .zero + .seconds(10))
    #expect(session.handle(.networkReturned, now: .zero + .seconds(11)) == [])
  }

  @Test mutating func `whoever was asked patiently is asked anew when the network is another`() {
    _ = session.handle(.start, now: .zero)
    register(.zero)
    let asked = session.deadline ?? .zero
    #expect(session.handle(.deadline, now: asked) == [.ping])
    #expect(session.deadline == asked + .seconds(10))
    #expect(session.handle(.networkReturned, now: asked + .seconds(1)) == [.ping])
    #expect(session.deadline == asked + .seconds(2))
  }

  @Test mutating func `an attempt to come back begins anew when the network is another, the first one does not`() {
    _ = session.handle(.start, now: .zero)
    #expect(session.handle(.networkReturned, now: .zero) == [])
    register(.zero)
    _ = session.handle(.closed(code: nil), now: .zero)
    let now = session.deadline ?? .zero
    #expect(session.handle(.deadline, now: now).contains(.connect))
    #expect(session.handle(.networkReturned, now: now + .seconds(2)) == [.disconnect, .connect])
    #expect(session.deadline == now + .seconds(12))
  }
}
