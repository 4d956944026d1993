import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Hundreds of pairs are checked fairly, and thousands of candidates in vain cost a bounded amount.
@Suite struct ManyCandidatesTests {
  private func addresses(_ network: String, _ count: Int) -> [String] { (1...count).map { "\(network).\($0)" } }

  private func blocked(_ addresses: [String]) -> Set<SocketAddress> {
    Set(addresses.map { SocketAddress(ip: IPAddress($0)!, port: 5_000) })
  }

  @Test func `of thirty addresses on each side the last ones alone work: connected within a second`() {
    var pair = AgentPair()
    let (here, there) = (addresses("10.1.0", 30), addresses("10.2.0", 30))
    pair.network.blockedAddresses = blocked(here.dropLast() + there.dropLast())
    pair.exchange(here, there)
    let time = pair.run(for: .seconds(10)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree)
    #expect(time < .seconds(1), "took \(time)")
  }

  @Test(arguments: [(0, 29), (29, 0), (3, 17)]) func `whichever pair of nine hundred works is found`(
    here: Int, there: Int
  ) {
    var pair = AgentPair()
    let (ours, theirs) = (addresses("10.1.0", 30), addresses("10.2.0", 30))
    var dead = ours + theirs
    dead.removeAll { $0 == ours[here] || $0 == theirs[there] }
    pair.network.blockedAddresses = blocked(dead)
    pair.exchange(ours, theirs)
    let time = pair.run(for: .seconds(20)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree && time < .seconds(6), "took \(time)")
  }

  @Test func `a relay and IPv6 are not starved by sixty host addresses in vain`() {
    var pair = AgentPair()
    let (here, there) = (addresses("10.1.0", 30), addresses("10.2.0", 30))
    pair.carriers[LocalCandidatesTests.relayA] = .relay(3)
    pair.network.blockedAddresses = blocked(here + there.dropLast())
    pair.a.agent.addLocalCandidates(AgentPair.hosts(here) + [LocalCandidatesTests.relay()], now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(there), now: pair.now)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    let time = pair.run(for: .seconds(10)) { $0.areConnected }
    #expect(pair.areConnected && pair.a.agent.selectedRoute?.kind == .relay(3) && time < .seconds(2), "took \(time)")

    var six = AgentPair()
    six.network.blockedAddresses = blocked(here + there)
    six.exchange(here + ["fd00::1"], there + ["fd00::2"])
    #expect(six.run(for: .seconds(10)) { $0.areConnected } < .milliseconds(100))
  }

  @Test func `five thousand bogus candidates cost few requests and little memory`() {
    var side = Side(role: .controlling, seed: 1)
    var other = SeededGenerator(seed: 2)
    side.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1", "10.0.1.1", "fd00::1"]), now: .zero)
    side.agent.setRemote(credentials: ICECredentials(using: &other), now: .zero)
    for i in 0..<5_000 as Range<UInt32> {
      let address = SocketAddress(ip: .v4(0x0B00_0000 + i / 100), port: UInt16(2_000 + i % 100))
      side.agent.addRemoteCandidate(
        ICECandidate(address: address, priority: i + 1, kind: .host, foundation: "\(i)"), now: .zero)
    }
    #expect(
      side.agent.remoteCandidates.count == PeerLimits.remoteCandidates
        && side.agent.pairCount == 2 * PeerLimits.remoteCandidates)
    var batch = DatagramBatch(capacity: 4_096)
    var requests = 0
    while let next = side.agent.nextDeadline, next < .zero + .seconds(300) {
      side.agent.deadlineReached(now: next, into: &batch, events: &side.events)
      requests += batch.count
      batch.removeAll()
    }
    #expect(side.agent.state == .failed)
    #expect(requests < 2_000, "\(requests) requests")
  }

  @Test func `one address is sent a bounded number of requests, however many ports somebody names`() {
    var configuration = ICEConfiguration()
    configuration.maximumUnansweredRequests = 100
    var side = Side(role: .controlling, seed: 1, configuration: configuration)
    var other = SeededGenerator(seed: 2)
    side.agent.addLocalCandidates(AgentPair.hosts((1...20).map { "10.0.0.\($0)" }), now: .zero)
    side.agent.setRemote(credentials: ICECredentials(using: &other), now: .zero)
    for port in 2_000..<3_000 as Range<UInt16> {
      side.agent.addRemoteCandidate(
        ICECandidate(
          address: SocketAddress(ip: IPAddress("11.0.0.1")!, port: port), priority: UInt32(port), kind: .host,
          foundation: "1"), now: .zero)
    }
    #expect(side.agent.remoteCandidates.count == 16)
    var batch = DatagramBatch(capacity: 4_096)
    while let next = side.agent.nextDeadline, next < .zero + .seconds(300) {
      side.agent.deadlineReached(now: next, into: &batch, events: &side.events)
      batch.removeAll()
    }
    #expect(side.agent.statistics.requestsSent == 100 && side.agent.state == .failed)
  }
}
