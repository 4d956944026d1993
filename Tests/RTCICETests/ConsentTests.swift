import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct ConsentTests {
  private func connected(seed: UInt64 = 1, conditions: NetworkConditions = .delayed(.milliseconds(10))) -> AgentPair {
    var pair = AgentPair(seed: seed, conditions: conditions)
    pair.exchange()
    pair.run(for: .seconds(20)) { $0.areConnected }
    #expect(pair.areConnected == true)
    return pair
  }

  @Test func `is asked for every five seconds or so`() {
    var pair = connected()
    pair.run(for: .seconds(600))
    let sent = pair.a.agent.statistics.consentRequestsSent
    #expect((100...150).contains(sent) && (pair.a.agent.statistics.consentResponsesReceived - sent).magnitude <= 1)
    #expect(pair.a.agent.roundTripTime == .milliseconds(20))
    #expect(pair.areConnected && pair.a.events.count { if case .stateChanged = $0 { true } else { false } } == 2)
  }

  @Test func `an outage shows and heals`() {
    var pair = connected()
    pair.run(for: .seconds(60))
    pair.network.setConditions(.broken)
    let silence = pair.run(for: .seconds(30)) { $0.a.agent.state == .disconnected && $0.b.agent.state == .disconnected }
    #expect(silence >= .seconds(4) && silence < .seconds(9))
    #expect(pair.a.agent.selectedRoute != nil)
    pair.run(for: .seconds(10))
    pair.network.setConditions(.delayed(.milliseconds(10)))
    let healing = pair.run(for: .seconds(10)) { $0.areConnected }
    #expect(healing <= .milliseconds(1_100))
    pair.run(for: .seconds(60))
    #expect(pair.areConnected == true)
  }

  @Test func `runs out after thirty seconds`() {
    var pair = connected()
    pair.run(for: .seconds(60))
    pair.network.setConditions(.broken)
    let time = pair.run(for: .seconds(60)) { $0.a.agent.state == .failed && $0.b.agent.state == .failed }
    #expect(time >= .seconds(24) && time <= .seconds(31))
    #expect(pair.a.agent.selectedRoute == nil && pair.a.agent.nextDeadline == nil)
    let sent = pair.network.counters(.aToB).sent
    pair.network.setConditions(.delayed(.milliseconds(10)))
    pair.run(for: .seconds(60))
    #expect(pair.network.counters(.aToB).sent == sent && pair.a.agent.state == .failed)
  }

  @Test func `one way traffic keeps the state but not consent`() {
    var pair = connected()
    pair.network[.aToB] = .broken
    let start = pair.now
    while pair.now - start < .seconds(29), pair.a.agent.state != .failed {
      pair.a.agent.noteAuthenticatedTraffic(at: pair.now)
      pair.run(for: .seconds(1))
      #expect(pair.a.agent.state == .connected || pair.now - start > .seconds(24))
    }
    pair.run(for: .seconds(6))
    #expect(pair.a.agent.state == .failed)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>) func `ten percent loss does not show`(seed: UInt64) {
    var pair = connected(seed: seed, conditions: .lossy(0.1))
    pair.run(for: .seconds(600))
    #expect(pair.areConnected == true)
    #expect(!pair.a.events.contains(.stateChanged(.disconnected)))
  }

  @Test func `a peer that vanishes is noticed`() {
    var pair = connected()
    pair.isBAlive = false
    pair.run(for: .seconds(9))
    #expect(pair.a.agent.state == .disconnected)
    pair.run(for: .seconds(27))
    #expect(pair.a.agent.state == .failed)
  }
}
