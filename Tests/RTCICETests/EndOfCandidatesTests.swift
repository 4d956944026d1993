import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// The effect of the peer's end of candidates (RFC 8445 §8.1.2, RFC 8838 §14, RFC 8863 §4).
@Suite struct EndOfCandidatesTests {
  private let patience = ICEConfiguration().completePatience

  /// Two agents of which each has said everything.
  private func pair(
    _ there: [String], conditions: NetworkConditions = .delayed(.milliseconds(10)),
    _ change: (inout ICEConfiguration) -> Void = { _ in }
  ) -> AgentPair {
    var configuration = ICEConfiguration()
    change(&configuration)
    var pair = AgentPair(conditions: conditions, configuration: configuration)
    pair.exchange(["10.0.0.1"], there)
    pair.a.agent.endRemoteCandidates(now: pair.now)
    pair.b.agent.endRemoteCandidates(now: pair.now)
    return pair
  }

  @Test func `who made the offer gives up soon when no candidate fits, and who answered waits`() {
    var pair = pair(["fd00::2"])
    let time = pair.run(for: .seconds(30)) { $0.a.agent.state == .failed }
    #expect(time == patience)
    #expect(pair.b.agent.state == .checking && pair.a.agent.nextDeadline == nil)
    pair.run(for: .seconds(35))
    #expect(pair.b.agent.state == .failed)
  }

  @Test func `it gives up with the last pair that fails`() {
    var pair = pair(["10.0.0.2"], conditions: .broken) { $0.maximumTransmissions = 4 }
    // 100, 200 and 400 ms, and sixteen times 500 ms for the last.
    let time = pair.run(for: .seconds(30)) { $0.a.agent.state == .failed }
    #expect(time == .milliseconds(8_700))
    #expect(pair.b.agent.state == .checking)
  }

  @Test func `while a pair is still tried, it goes on, and connects when the network allows`() {
    var pair = pair(["10.0.0.2"], conditions: .broken)
    pair.run(for: .seconds(20))
    #expect(pair.a.agent.state == .checking)
    pair.network.setConditions(.delayed(.milliseconds(10)))
    pair.run(for: .seconds(3)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree)
  }

  @Test func `the peer's own check may still show a way that it did not know`() {
    var pair = AgentPair()
    pair.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.a.agent.endRemoteCandidates(now: pair.now)
    pair.run(for: patience - .seconds(1))
    #expect(pair.a.agent.state == .checking)
    pair.b.agent.addRemoteCandidate(AgentPair.hosts(["10.0.0.1"])[0], now: pair.now)
    pair.run(for: .seconds(1)) { $0.areConnected }
    #expect(pair.areConnected && pair.a.agent.selectedPair?.remote.kind == .peerReflexive)
  }

  @Test func `the word may come late, and then counts at once`() {
    var pair = AgentPair()
    pair.exchange(["10.0.0.1"], ["fd00::2"])
    pair.run(for: .seconds(20))
    #expect(pair.a.agent.state == .checking)
    pair.a.agent.endRemoteCandidates(now: pair.now)
    #expect(pair.run(for: .seconds(1)) { $0.a.agent.state == .failed } == .zero)
    #expect(pair.a.events.last == .stateChanged(.failed))
  }

  @Test func `a restart begins with an open list again`() {
    var pair = pair(["10.0.0.2"])
    pair.run(for: .seconds(1)) { $0.areConnected }
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(60))
    #expect(pair.a.agent.state == .failed)
    pair.a.agent.restart(localCredentials: ICECredentials(using: &pair.a.generator), now: pair.now)
    pair.a.agent.setRemote(credentials: ICECredentials(using: &pair.b.generator), now: pair.now)
    pair.run(for: .seconds(30))
    #expect(pair.a.agent.state == .checking)
  }
}
