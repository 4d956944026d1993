import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// ICE-TCP (RFC 6544): passive candidates wait for connections, which show themselves as routes.
@Suite struct TCPCandidatesTests {
  private static let listening = SocketAddress(ip: AgentPair.addressA, port: 7_443)
  private static let connected = SocketAddress(ip: AgentPair.addressB, port: 39_001)

  private func candidate(
    _ address: SocketAddress, _ type: CandidateDescription.TCPType, _ carrier: Route.Kind,
    to remote: SocketAddress? = nil
  ) -> ICECandidate {
    ICECandidate(
      address: address, priority: ICECandidate.priority(kind: .host, localPreference: 9), kind: .host, foundation: "t",
      relatedAddress: remote, carrier: carrier, tcpType: type)
  }

  /// UDP is blocked; A listens, B has connected to it.
  private func pair() -> AgentPair {
    var pair = AgentPair(roleA: .controlled, roleB: .controlling)
    pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressB, port: 5_000)]
    pair.carriers = [Self.listening: .stream(4), Self.connected: .stream(9)]
    let passive = candidate(Self.listening, .passive, .stream(0))
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]) + [passive], isComplete: true, now: pair.now)
    let active = candidate(Self.connected, .active, .stream(9), to: Self.listening)
    pair.b.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.2"]) + [active], isComplete: true, now: pair.now)
    pair.exchangeCredentials()
    pair.b.agent.addRemoteCandidate(passive, now: pair.now)
    return pair
  }

  @Test func `where UDP is blocked, the connection to a passive candidate is used`() {
    var pair = pair()
    let time = pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree && time < .milliseconds(300))
    #expect(pair.a.agent.selectedRoute?.kind == .stream(4) && pair.b.agent.selectedRoute?.kind == .stream(9))
    #expect(pair.a.agent.selectedPair?.local.tcpType == .passive)
    #expect(pair.a.agent.selectedPair?.remote.kind == .peerReflexive)
  }

  @Test func `UDP is preferred where it works`() {
    var pair = pair()
    pair.network.blockedAddresses = []
    pair.exchangeCandidates()
    pair.run(for: .seconds(5)) { $0.areConnected && $0.a.agent.selectedRoute?.kind == .udp(port: 0) }
    #expect(pair.areConnected && pair.a.agent.selectedRoute?.kind == .udp(port: 0))
  }

  @Test func `a connection that is closed takes its pairs with it`() {
    var pair = pair()
    pair.run(for: .seconds(5)) { $0.areConnected }
    pair.network.blockedAddresses = [Self.connected]
    pair.a.agent.refuse(pair.a.agent.selectedRoute!, now: pair.now)
    pair.run(for: .zero)
    #expect(pair.a.agent.state == .disconnected && pair.a.agent.selectedRoute == nil)
  }

  @Test func `candidates of another kind are not paired with TCP`() {
    var pair = pair()
    #expect(pair.a.agent.pairCount == 0 && pair.b.agent.pairCount == 1)
    for type in [CandidateDescription.TCPType.active, .simultaneousOpen] {
      pair.b.agent.addRemoteCandidate(candidate(Self.listening, type, .stream(0)), now: pair.now)
    }
    let elsewhere = SocketAddress(ip: AgentPair.addressA, port: 7_444)
    pair.b.agent.addRemoteCandidate(candidate(elsewhere, .passive, .stream(0)), now: pair.now)
    #expect(pair.b.agent.pairCount == 1)
    pair.run(for: .milliseconds(1))
  }

  @Test func `RFC 6544: the attribute says who connects`() throws {
    let text = CandidateDescription(candidate(Self.listening, .passive, .stream(0))).description
    #expect(text.contains(" tcp ") && text.hasSuffix("typ host tcptype passive"))
    let parsed = try #require(CandidateDescription(parsing: text).flatMap { ICECandidate($0) })
    #expect(parsed.tcpType == .passive && parsed.address == Self.listening)
  }
}
