import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct RestartTests {
  private func restart(_ pair: inout AgentPair) {
    pair.a.agent.restart(localCredentials: ICECredentials(using: &pair.a.generator), now: pair.now)
    pair.b.agent.restart(localCredentials: ICECredentials(using: &pair.b.generator), now: pair.now)
  }

  @Test(arguments: [0.0, 0.2]) func `the old route serves until a new one is there`(loss: Double) {
    for seed in 1...10 as ClosedRange<UInt64> {
      var pair = AgentPair(seed: seed, conditions: .lossy(loss))
      pair.exchange()
      pair.run(for: .seconds(30)) { $0.areConnected }
      let old = pair.a.agent.selectedRoute
      restart(&pair)
      #expect(pair.a.agent.selectedRoute == old && pair.areConnected)
      pair.run(for: .seconds(15))  // signalling takes its time; consent goes on with the old credentials
      #expect(pair.a.agent.selectedRoute == old && pair.a.agent.state == .connected)
      pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.7.0.1", "fd00::1"]), now: pair.now)
      pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.7.0.2", "fd00::2"]), now: pair.now)
      pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressB, port: 5000)]
      pair.exchangeCredentials()
      pair.exchangeCandidates()
      pair.run(for: .seconds(20)) { $0.a.agent.selectedPair != nil && $0.b.agent.selectedPair != nil }
      #expect(pair.routesAgree && pair.a.agent.selectedRoute != old, "seed \(seed)")
      pair.run(for: .seconds(100))
      #expect(pair.areConnected && pair.routesAgree)
      #expect(!pair.a.events.contains(.stateChanged(.failed)))
    }
  }

  @Test func `brings a failed connection back`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(60))
    #expect(pair.a.agent.state == .failed)
    pair.network.setConditions(.delayed(.milliseconds(10)))
    restart(&pair)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree && pair.a.agent.statistics.restarts == 1)
  }

  @Test func `the same description again changes nothing`() {
    var pair = AgentPair()
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    let events = pair.a.events
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    pair.run(for: .seconds(30))
    #expect(pair.a.events == events && pair.areConnected)
  }

  @Test func `candidates of an old session are dropped`() {
    var pair = AgentPair()
    pair.exchange()
    pair.a.agent.addRemoteCandidate(
      AgentPair.hosts(["10.0.0.9"])[0], usernameFragment: "another", now: pair.now)
    #expect(pair.a.agent.statistics.drops(.unusableCandidate) == 1 && pair.a.agent.pairCount == 1)
  }
}
