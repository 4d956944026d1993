import RTCICE
import RTCPrimitives
import Testing

@Suite struct UnnominatedTests {
  /// B waits that long for an answer from A's better address, from which nothing comes, before it nominates.
  private func pair(nominatingAfter delay: TimeDelta) -> AgentPair {
    var pair = AgentPair(roleA: .controlled, roleB: .controlling)
    var patient = ICEConfiguration()
    patient.nominationDelay = delay
    pair.b = Side(role: .controlling, seed: 9, configuration: patient)
    pair.network.blockedAddresses = [SocketAddress(ip: IPAddress("10.9.9.9")!, port: 5_000)]
    pair.exchange(["10.9.9.9", "10.0.0.1"], ["10.0.0.2"])
    return pair
  }

  @Test func `RFC 7675: a way that works and is never nominated is given up when the peer falls silent`() {
    var pair = pair(nominatingAfter: .seconds(1_000))
    pair.run(for: .seconds(5)) { $0.a.agent.selectedRoute != nil }
    #expect(pair.a.agent.selectedRoute?.local.ip == AgentPair.addressA)
    #expect(pair.a.agent.state == .checking)
    pair.isBAlive = false
    pair.run(for: .seconds(120))
    #expect(pair.a.agent.state == .failed)
    #expect(pair.a.agent.selectedRoute == nil && pair.a.agent.nextDeadline == nil)
  }

  @Test func `RFC 8863: a peer that takes its time to nominate is waited for`() {
    var pair = pair(nominatingAfter: .seconds(35))
    pair.run(for: .seconds(30)) { $0.areConnected }
    #expect(pair.a.agent.state == .checking && pair.a.agent.selectedRoute != nil)
    pair.run(for: .seconds(10)) { $0.areConnected }
    let areConnected = pair.areConnected
    #expect(areConnected)
  }
}
