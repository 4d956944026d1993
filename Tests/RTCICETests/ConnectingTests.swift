import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct ConnectingTests {
  @Test(arguments: [ICERole.controlling, .controlled]) func `two hosts connect within a few round trips`(roleA: ICERole)
  {
    var pair = AgentPair(
      roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling,
      conditions: .delayed(.microseconds(100)))
    pair.exchange()
    let time = pair.run(for: .seconds(1)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree)
    #expect(time < .milliseconds(10))
    #expect(pair.a.events.last == .stateChanged(.connected))
    #expect(pair.a.events.contains(.stateChanged(.checking)))
    #expect(pair.a.agent.selectedPair?.remote.kind == .host)
  }

  @Test(arguments: [0.0, 0.1, 0.3], [ICERole.controlling, .controlled]) func `connects through loss`(
    loss: Double, roleA: ICERole
  ) {
    for seed in 1...100 as ClosedRange<UInt64> {
      var pair = AgentPair(
        seed: seed, roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling, conditions: .lossy(loss))
      pair.exchange()
      pair.run(for: .seconds(30)) { $0.areConnected }
      #expect(pair.areConnected && pair.routesAgree, "seed \(seed)")
    }
  }

  @Test func `connects through reordering and duplication`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var conditions = NetworkConditions.lossy(0.1)
      conditions.jitter = .milliseconds(200)
      conditions.reorders = true
      conditions.duplication = 0.5
      var pair = AgentPair(seed: seed, conditions: conditions)
      pair.exchange(["10.0.0.1", "10.1.0.1", "fd00::1"], ["10.0.0.2", "10.1.0.2", "fd00::2"])
      pair.run(for: .seconds(30)) { $0.areConnected && $0.routesAgree }
      #expect(pair.areConnected && pair.routesAgree, "seed \(seed)")
      pair.run(for: .seconds(60))
      #expect(pair.areConnected && pair.routesAgree, "seed \(seed) a minute later")
    }
  }

  @Test func `prefers the best pair that works`() {
    var pair = AgentPair()
    pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
    pair.run(for: .seconds(1)) { $0.areConnected }
    #expect(pair.a.agent.selectedRoute?.remote.ip == IPAddress("fd00::2"))
    #expect(pair.routesAgree == true)
  }

  @Test func `a broken family delays little`() {
    var pair = AgentPair()
    pair.network.blockedAddresses = [SocketAddress(ip: IPAddress("fd00::2")!, port: 5000)]
    pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
    let time = pair.run(for: .seconds(1)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree && time < .milliseconds(200))
    #expect(pair.a.agent.selectedRoute?.remote.ip == AgentPair.addressB)
  }

  @Test func `only one side knows the other`() {
    for roleA in [ICERole.controlling, .controlled] {
      var pair = AgentPair(roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling)
      pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: pair.now)
      pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
      pair.exchangeCredentials()
      pair.a.agent.addRemoteCandidate(AgentPair.hosts(["10.0.0.2"])[0], now: pair.now)
      let time = pair.run(for: .seconds(5)) { $0.areConnected }
      #expect(pair.areConnected && pair.routesAgree && time < .milliseconds(200))
      #expect(pair.b.agent.selectedPair?.remote.kind == .peerReflexive)
    }
  }

  @Test func `checks before the description are answered and remembered`() {
    var pair = AgentPair()
    pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.a.agent.setRemote(credentials: pair.b.agent.localCredentials, now: pair.now)
    pair.a.agent.addRemoteCandidate(AgentPair.hosts(["10.0.0.2"])[0], now: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.b.agent.state == .new && pair.b.agent.statistics.responsesSent > 0)
    pair.b.agent.setRemote(credentials: pair.a.agent.localCredentials, now: pair.now)
    let time = pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && time < .milliseconds(50))
  }

  @Test func `a candidate trickled late connects`() {
    var pair = AgentPair()
    pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.run(for: .seconds(20))
    #expect(pair.a.agent.state == .checking && pair.b.agent.state == .checking)
    pair.exchangeCandidates()
    let time = pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && time < .milliseconds(100))
  }

  @Test func `fails after patience when nothing answers`() {
    var pair = AgentPair(conditions: .broken)
    pair.exchange()
    pair.run(for: .milliseconds(39_000))
    #expect(pair.a.agent.state == .checking)
    pair.run(for: .seconds(3))
    #expect(pair.a.agent.state == .failed && pair.b.agent.state == .failed)
    #expect(pair.a.agent.statistics.requestsSent == 18)
    #expect(pair.a.agent.nextDeadline == nil)
  }

  @Test func `fails after patience without any candidate`() {
    var pair = AgentPair()
    pair.exchangeCredentials()
    pair.run(for: .seconds(40))
    #expect(pair.a.agent.state == .failed)
  }

  @Test func `link local addresses keep their scope`() {
    var pair = AgentPair()
    pair.exchange(["fe80::1"], ["fe80::2"])
    pair.run(for: .seconds(1)) { $0.a.agent.selectedRoute != nil }
    guard case .v6(_, _, let scope)? = pair.a.agent.selectedRoute?.remote.ip else {
      Issue.record("no IPv6 route")
      return
    }
    #expect(scope == 1)
  }

  @Test func `the same seed replays the same session`() {
    func run() -> [ICEEvent] {
      var pair = AgentPair(seed: 7, conditions: .lossy(0.3))
      pair.exchange()
      pair.run(for: .seconds(100))
      return pair.a.events + pair.b.events
    }
    #expect(run() == run())
  }
}
