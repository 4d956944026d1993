import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Media goes the best way that works, also when that is found later.
@Suite struct FollowingTests {
  @Test(arguments: [ICERole.controlling, .controlled], 1...5 as ClosedRange<UInt64>)
  func `a direct way that opens after a relay was chosen is nominated within seconds`(roleA: ICERole, seed: UInt64) {
    var pair = AgentPair(seed: seed, roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling)
    let direct = SocketAddress(ip: AgentPair.addressA, port: 5_000)
    pair.carriers[LocalCandidatesTests.relayA] = .relay(3)
    pair.network.blockedAddresses = [direct]
    pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]) + [LocalCandidatesTests.relay()], now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    let first = pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(first < .milliseconds(300) && pair.a.agent.selectedRoute?.kind == .relay(3))
    pair.run(for: .seconds(3))
    pair.network.blockedAddresses = []
    let time = pair.run(for: .seconds(10)) { $0.a.agent.selectedRoute?.local == direct && $0.routesAgree }
    #expect(time < .seconds(3) && pair.areConnected)
    pair.run(for: .seconds(60))
    #expect(pair.routesAgree && pair.a.agent.selectedRoute?.local == direct)
    #expect(!(pair.a.events + pair.b.events).contains(.stateChanged(.disconnected)))
  }

  @Test func `a better way that never answers changes nothing`() {
    var pair = AgentPair()
    pair.network.blockedAddresses = [SocketAddress(ip: IPAddress("fd00::2")!, port: 5_000)]
    pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
    pair.run(for: .seconds(1)) { $0.areConnected }
    let routes = pair.a.events.count { if case .selectedRouteChanged = $0 { true } else { false } }
    pair.run(for: .seconds(200))
    #expect(pair.areConnected && pair.a.agent.selectedRoute?.remote.ip == AgentPair.addressB)
    #expect(pair.a.events.count { if case .selectedRouteChanged = $0 { true } else { false } } == routes)
  }

  @Test(arguments: [0.0, 0.2], 1...5 as ClosedRange<UInt64>)
  func `another way that the peer shows is no reason to leave one that answers`(loss: Double, seed: UInt64) {
    var pair = AgentPair(seed: seed, conditions: .lossy(loss))
    pair.exchange(["fd00::1"], ["fd00::2"])
    pair.run(for: .seconds(20)) { $0.areConnected }
    pair.run(for: .seconds(5))
    let route = pair.a.agent.selectedRoute
    for side in 0..<2 {
      let hosts = side == 0 ? AgentPair.hosts(["fd00::1", "10.0.0.1"]) : AgentPair.hosts(["fd00::2", "10.0.0.2"])
      if side == 0 {
        pair.a.agent.setLocalCandidates(hosts, isComplete: true, now: pair.now)
        pair.b.agent.addRemoteCandidate(hosts[1], now: pair.now)
      } else {
        pair.b.agent.setLocalCandidates(hosts, isComplete: true, now: pair.now)
        pair.a.agent.addRemoteCandidate(hosts[1], now: pair.now)
      }
    }
    // B has a reason to try the others, which is over at once.
    pair.b.agent.refuse(pair.b.agent.selectedRoute!, now: pair.now)
    pair.run(for: .seconds(120))
    #expect(pair.areConnected && pair.routesAgree)
    if loss == 0 { #expect(pair.a.agent.selectedRoute == route && pair.a.agent.pairReports[1].state == .succeeded) }
    #expect(!pair.a.events.contains(.stateChanged(.disconnected)))
  }

  @Test func `a check that the system refuses has failed, and the end comes as soon as nothing is left`() {
    var pair = AgentPair(conditions: .broken)
    pair.exchange()
    pair.a.agent.endRemoteCandidates(now: pair.now)
    pair.run(for: .milliseconds(50))
    let route = Route(
      local: SocketAddress(ip: AgentPair.addressA, port: 5_000),
      remote: SocketAddress(ip: AgentPair.addressB, port: 5_000))
    pair.a.agent.refuse(route, now: pair.now)
    let time = pair.run(for: .seconds(30)) { $0.a.agent.state == .failed }
    #expect(time < .seconds(5))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>) func `roles in conflict and restarts at the same moment settle`(
    seed: UInt64
  ) {
    for role in [ICERole.controlling, .controlled] {
      var pair = AgentPair(seed: seed, roleA: role, roleB: role, conditions: .lossy(0.1))
      pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
      pair.run(for: .milliseconds(Int64(seed) * 7))
      pair.a.agent.restart(localCredentials: ICECredentials(using: &pair.a.generator), now: pair.now)
      pair.b.agent.restart(localCredentials: ICECredentials(using: &pair.b.generator), now: pair.now)
      pair.exchangeCredentials()
      pair.exchangeCandidates()
      pair.run(for: .seconds(30)) { $0.areConnected && $0.routesAgree }
      #expect(pair.areConnected && pair.routesAgree && pair.a.agent.role != pair.b.agent.role, "seed \(seed)")
    }
  }

  @Test func `a restart keeps the roles as a conflict settled them`() {
    var pair = AgentPair(roleA: .controlled, roleB: .controlled)
    pair.exchange()
    pair.run(for: .seconds(5)) { $0.areConnected }
    let (a, b) = (pair.a.agent.role, pair.b.agent.role)
    pair.a.agent.restart(localCredentials: ICECredentials(using: &pair.a.generator), now: pair.now)
    pair.b.agent.restart(localCredentials: ICECredentials(using: &pair.b.generator), now: pair.now)
    pair.a.agent.setRole(.controlled)
    pair.b.agent.setRole(.controlled)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    pair.run(for: .seconds(5)) { $0.a.agent.selectedPair != nil && $0.b.agent.selectedPair != nil }
    #expect(pair.a.agent.role == a && pair.b.agent.role == b && pair.routesAgree)
  }

  @Test func `two restarts that the peer never answers leave the way in use alone`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    for _ in 0..<2 {
      pair.a.agent.restart(localCredentials: ICECredentials(using: &pair.a.generator), now: pair.now)
      pair.run(for: .seconds(20))
    }
    pair.run(for: .seconds(200))
    #expect(pair.areConnected && pair.routesAgree && pair.a.agent.isAwaitingRestart)
  }
}
