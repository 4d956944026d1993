import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Nothing a stranger or a hostile peer sends may crash, grow without bound, or be believed.
@Suite struct HostilePeerTests {
  let route = Route(
    local: SocketAddress(ip: AgentPair.addressA, port: 5000), remote: SocketAddress(ip: AgentPair.addressB, port: 5000))

  private func request(
    username: String, password: String, role: STUNICERole = .controlling(tieBreaker: 1), priority: UInt32? = 5,
    nominates: Bool = false, extra: STUNAttributeType? = nil, id: UInt64 = 1
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1_000)
    var span = bytes.mutableSpan
    var writer = STUNMessageWriter(
      .request, transactionID: STUNTransactionID(high: 0, low: id), into: span._mutatingExtracting(0..<1_000))
    writer.write(.username, Array(username.utf8).span)
    writer.write(role)
    if let priority { writer.write(.priority, priority) }
    if nominates { writer.write(.useCandidate) }
    if let extra { writer.write(extra) }
    let count = writer.finish(key: STUNIntegrityKey(password: password))
    return Array(bytes.prefix(count))
  }

  private func answer(_ side: inout Side, _ bytes: [UInt8], route: Route? = nil, at now: Timestamp = .zero) -> [UInt8]?
  {
    var batch = DatagramBatch(capacity: 4096)
    side.agent.receive(bytes.span, route: route ?? self.route, now: now, into: &batch, events: &side.events)
    guard !batch.isEmpty else { return nil }
    let first = batch.datagram(0)
    return first.indices.map { first[$0] }
  }

  private func errorCode(_ bytes: [UInt8]?) -> STUNErrorCode? {
    guard let bytes, let message = try? STUNMessage(parsing: bytes.span) else { return nil }
    return message.errorCode
  }

  @Test func `wrong credentials are refused and counted`() {
    var side = Side(role: .controlled, seed: 1)
    let own = side.agent.localCredentials
    #expect(answer(&side, request(username: "nobody:peer", password: own.password)) == nil)
    #expect(side.agent.statistics.drops(.unknownUsername) == 1)
    let forged = request(username: own.usernameFragment + ":peer", password: "wrong-wrong-wrong-wrong")
    #expect(errorCode(answer(&side, forged)) == .unauthenticated)
    #expect(side.agent.statistics.drops(.badIntegrity) == 1)
    let incomplete = request(username: own.usernameFragment + ":peer", password: own.password, priority: nil)
    #expect(errorCode(answer(&side, incomplete)) == .badRequest)
    let strange = request(
      username: own.usernameFragment + ":peer", password: own.password, extra: STUNAttributeType(0x7777))
    #expect(errorCode(answer(&side, strange)) == .unknownAttribute)
    #expect(side.agent.state == .new && side.agent.pairCount == 0)
  }

  @Test func `a request cut anywhere is dropped`() {
    var side = Side(role: .controlled, seed: 1)
    let own = side.agent.localCredentials
    let good = request(username: own.usernameFragment + ":peer", password: own.password)
    for count in 0..<good.count { #expect(answer(&side, Array(good.prefix(count))) == nil) }
    #expect(side.agent.statistics.drops(.malformed) == good.count)
    #expect(answer(&side, good) != nil)
  }

  @Test func `random bytes and flipped bits do no harm`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    let own = pair.a.agent.localCredentials
    let good = request(
      username: own.usernameFragment + ":" + pair.b.agent.localCredentials.usernameFragment, password: own.password)
    var random = SeededGenerator(seed: 5)
    let selected = pair.a.agent.selectedRoute
    for _ in 0..<5_000 {
      var bytes = good
      for _ in 0...Int(random.next() % 8) {
        bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
      }
      _ = answer(&pair.a, bytes)
      _ = answer(&pair.a, (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
    #expect(pair.a.agent.selectedRoute == selected && pair.a.agent.state == .connected)
  }

  @Test func `remote candidates and pairs are limited`() {
    var side = Side(role: .controlled, seed: 1)
    side.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.3.1"]), now: .zero)
    for i in 1...1_000 as ClosedRange<UInt32> {
      let address = SocketAddress(ip: .v4(0x0B00_0000 + i), port: 7_000)
      side.agent.addRemoteCandidate(
        ICECandidate(address: address, priority: i, kind: .host, foundation: "\(i)"), now: .zero)
    }
    #expect(side.agent.pairCount == 100)
    #expect(side.agent.statistics.drops(.limitReached) >= 950)
  }

  @Test func `early checks and peer reflexive routes are limited`() {
    var side = Side(role: .controlled, seed: 1)
    let own = side.agent.localCredentials
    var generator = SeededGenerator(seed: 9)
    let peer = ICECredentials(using: &generator)
    var now = Timestamp.zero
    let check = request(username: own.usernameFragment + ":" + peer.usernameFragment, password: own.password)
    for port in 1...500 as ClosedRange<UInt16> {
      now += PeerLimits.checksReceived.refill
      _ = answer(
        &side, check, route: Route(local: route.local, remote: SocketAddress(ip: AgentPair.addressB, port: port)),
        at: now)
    }
    side.agent.setRemote(credentials: peer, now: now)
    // Of one address few are tried at a time.
    #expect(side.agent.pairCount == 8)
    for port in 1...500 as ClosedRange<UInt16> {
      now += PeerLimits.checksReceived.refill
      _ = answer(
        &side, check, route: Route(local: route.local, remote: SocketAddress(ip: AgentPair.addressB, port: port)),
        at: now)
    }
    #expect(side.agent.pairCount == 8)
    for number in 1...500 as ClosedRange<UInt32> {
      now += PeerLimits.checksReceived.refill
      let elsewhere = SocketAddress(ip: .v4(0x0B00_0000 + number), port: 5_000)
      _ = answer(&side, check, route: Route(local: route.local, remote: elsewhere), at: now)
    }
    #expect(side.agent.pairCount == 100)
  }

  @Test func `checks that come from ever new ports do not keep the others from their turn`() {
    var side = Side(role: .controlled, seed: 1)
    let own = side.agent.localCredentials
    var generator = SeededGenerator(seed: 9)
    let peer = ICECredentials(using: &generator)
    side.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]) + [LocalCandidatesTests.relay()], now: .zero)
    side.agent.setRemote(credentials: peer, now: .zero)
    side.agent.addRemoteCandidate(AgentPair.hosts(["10.0.0.2"])[0], now: .zero)
    let check = request(username: own.usernameFragment + ":" + peer.usernameFragment, password: own.password)
    var batch = DatagramBatch(capacity: 4_096)
    var now = Timestamp.zero
    var kinds: Set<Route.Kind> = []
    for port in 10_000..<10_100 as Range<UInt16> {
      now += .milliseconds(10)
      let reflexion = Route(local: route.local, remote: SocketAddress(ip: IPAddress("1.2.3.4")!, port: port))
      side.agent.receive(check.span, route: reflexion, now: now, into: &batch, events: &side.events)
      while let next = side.agent.nextDeadline, next <= now {
        side.agent.deadlineReached(now: now, into: &batch, events: &side.events)
      }
      for entry in batch.entries { kinds.insert(entry.route.kind) }
      batch.removeAll()
    }
    #expect(kinds.contains(.relay(3)) && side.agent.pairCount <= 10)
  }

  @Test func `impossible addresses are not checked`() {
    var side = Side(role: .controlling, seed: 1)
    side.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1", "fd00::1"]), now: .zero)
    for (ip, port) in [
      ("0.0.0.0", 5), ("224.0.0.1", 5), ("255.255.255.255", 5), ("10.0.0.2", 0), ("::", 5), ("ff02::1", 5),
    ] as [(String, UInt16)] {
      side.agent.addRemoteCandidate(
        ICECandidate(
          address: SocketAddress(ip: IPAddress(ip)!, port: port), priority: 1, kind: .host, foundation: "1"),
        now: .zero)
    }
    #expect(side.agent.pairCount == 0 && side.agent.statistics.drops(.unusableCandidate) == 6)
  }

  @Test func `another peer's fragment is dropped`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    let own = pair.a.agent.localCredentials
    let foreign = request(username: own.usernameFragment + ":mallory", password: own.password)
    #expect(answer(&pair.a, foreign, at: pair.now) == nil)
    #expect(pair.a.agent.statistics.drops(.unknownUsername) == 1)
  }

  @Test func `the fragment of a first request finds the peer`() {
    let bytes = request(username: "abcd:efgh", password: "0123456789012345678901")
    let (short, cut): ([UInt8], [UInt8]) = ([0, 1, 2], Array(bytes.dropLast()))
    #expect(ICEDemultiplexer.localUsernameFragment(of: bytes.span) == "abcd")
    #expect(ICEDemultiplexer.localUsernameFragment(of: short.span) == nil)
    #expect(ICEDemultiplexer.localUsernameFragment(of: cut.span) == nil)
    var media = bytes
    media[0] = 0x80
    #expect(ICEDemultiplexer.localUsernameFragment(of: media.span) == nil)
  }

  @Test func `a storm of requests is answered as far as the budget goes, and no further`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    let own = pair.a.agent.localCredentials
    let username = own.usernameFragment + ":" + pair.b.agent.localCredentials.usernameFragment
    let before = pair.a.agent.statistics.responsesSent
    var batch = DatagramBatch(capacity: 4096)
    for number in 0..<20_000 as Range<UInt64> {
      var from = route
      from.remote.port = UInt16(1_024 + number % 60_000)
      let bytes = request(username: username, password: own.password, role: .controlled(tieBreaker: 1), id: number)
      let now = pair.now + .microseconds(Int64(number) * 100)
      pair.a.agent.receive(bytes.span, route: from, now: now, into: &batch, events: &pair.a.events)
      batch.removeAll()
    }
    let answered = pair.a.agent.statistics.responsesSent - before
    let burst = Int(PeerLimits.checksReceived.burst)
    #expect((burst...burst + 201).contains(answered), "\(answered)")
    #expect(pair.a.agent.pairCount <= 100 && pair.a.agent.statistics.drops(.limitReached) > 19_000)
  }

  @Test func `B13: forged requests do not keep a peer's consent checks from being answered`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(5)) { $0.areConnected }
    let own = pair.a.agent.localCredentials
    let username = own.usernameFragment + ":" + pair.b.agent.localCredentials.usernameFragment
    let forged = request(username: username, password: "wrong-wrong-wrong-wrong")
    // A thousand a second, evenly: whatever an allowance gives back is taken at once.
    for _ in 0..<60_000 {
      _ = answer(&pair.a, forged, at: pair.now)
      pair.run(for: .milliseconds(1))
    }
    #expect(pair.areConnected == true)
    // Verified are most of them, answered are few.
    let refused = pair.a.agent.statistics.errorResponsesSent
    #expect(refused > 400 && refused <= Int(PeerLimits.checksReceived.burst) + 6_100)
  }

  @Test func `a refusal is never longer than what is refused`() {
    var side = Side(role: .controlled, seed: 1)
    for count in [0, 1, 4, 5, 8, 12, 40] {
      var bytes = [UInt8](repeating: 0, count: 500)
      var span = bytes.mutableSpan
      var writer = STUNMessageWriter(
        .request, transactionID: STUNTransactionID(high: 0, low: 1), into: span._mutatingExtracting(0..<500))
      if count > 0 { writer.write(.username, [UInt8](repeating: 0x41, count: count).span) }
      let length = writer.finish(key: nil)
      let answer = answer(&side, Array(bytes.prefix(length)))
      #expect(answer.map(\.count) ?? 0 <= length, "\(count)")
    }
  }
}
