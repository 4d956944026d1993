import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Candidates of ours come and go while a connection lives.
@Suite struct LocalCandidatesTests {
  static let relayA = SocketAddress(ip: IPAddress("192.0.2.9")!, port: 50_000)

  static func relay(_ address: SocketAddress = relayA, number: UInt16 = 3) -> ICECandidate {
    ICECandidate(
      address: address, priority: ICECandidate.priority(kind: .relayed, localPreference: 9), kind: .relayed,
      foundation: "r\(number)", relatedAddress: SocketAddress(ip: AgentPair.addressA, port: 5_000),
      carrier: .relay(number))
  }

  private func connected(_ addressesA: [String], _ addressesB: [String], roleA: ICERole = .controlling) -> AgentPair {
    var pair = AgentPair(roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling)
    pair.exchange(addressesA, addressesB)
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected == true)
    return pair
  }

  @Test(arguments: [ICERole.controlling, .controlled])
  func `a new candidate is checked while another pair is selected, and a better way is taken`(roleA: ICERole) {
    var pair = connected(["10.0.0.1"], ["10.0.0.2", "fd00::2"], roleA: roleA)
    pair.run(for: .seconds(10))
    let hosts = AgentPair.hosts(["fd00::1", "10.0.0.1"])
    pair.a.agent.setLocalCandidates(hosts, isComplete: true, now: pair.now)
    pair.b.agent.addRemoteCandidate(hosts[0], now: pair.now)
    let time = pair.run(for: .seconds(5)) { $0.routesAgree && $0.a.agent.selectedRoute?.remote.ip.isV4 == false }
    #expect(pair.areConnected && pair.routesAgree && time < .milliseconds(200))
    #expect(!pair.a.events.contains(.stateChanged(.disconnected)))
  }

  @Test(arguments: [ICERole.controlling, .controlled])
  func `when the selected pair's candidate is gone, another pair that works is taken at once`(roleA: ICERole) {
    var pair = connected(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"], roleA: roleA)
    pair.run(for: .seconds(10))
    #expect(pair.a.agent.selectedRoute?.local.ip.isV4 == false)
    let gone = pair.a.agent.selectedRoute!.local
    pair.network.blockedAddresses = [gone]
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]), isComplete: true, now: pair.now)
    pair.run(for: .zero)
    #expect(pair.a.agent.selectedRoute?.local.ip == AgentPair.addressA && pair.a.agent.state == .connected)
    // The other side follows the media that comes the new way.
    let time = pair.run(for: .seconds(9)) { pair in
      pair.b.agent.selectedRoute?.remote.ip == AgentPair.addressA
    }
    #expect(time < .seconds(8))
    pair.run(for: .seconds(100))
    #expect(pair.areConnected && pair.routesAgree)
  }

  @Test(arguments: [ICERole.controlling, .controlled])
  func `media that comes another way makes the peer follow within a second`(roleA: ICERole) {
    var pair = connected(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"], roleA: roleA)
    pair.run(for: .seconds(10))
    pair.network.blockedAddresses = [pair.a.agent.selectedRoute!.local]
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]), isComplete: true, now: pair.now)
    let start = pair.now
    while pair.b.agent.selectedRoute?.remote.ip != AgentPair.addressA, pair.now - start < .seconds(5) {
      pair.run(for: .milliseconds(100))
      let route = pair.a.agent.selectedRoute!
      pair.b.agent.noteAuthenticatedTraffic(
        at: pair.now, on: Route(local: route.remote, remote: route.local))
    }
    #expect(pair.now - start <= .seconds(1))
    pair.run(for: .seconds(60))
    #expect(pair.areConnected && pair.routesAgree)
  }

  @Test func `without any other pair it is disconnected, and a new candidate brings it back without a restart`() {
    var pair = connected(["10.0.0.1"], ["10.0.0.2"])
    pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressA, port: 5_000)]
    pair.a.agent.setLocalCandidates([], isComplete: true, now: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.a.agent.state == .disconnected && pair.a.agent.selectedRoute == nil && pair.a.agent.pairCount == 0)
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.7.1"]), isComplete: true, now: pair.now)
    let time = pair.run(for: .seconds(5)) { $0.a.agent.state == .connected }
    #expect(time < .milliseconds(100))
    pair.run(for: .seconds(10)) { $0.areConnected && $0.routesAgree }
    #expect(pair.areConnected && pair.routesAgree && pair.a.agent.statistics.restarts == 0)
  }

  @Test func `with no new candidate it fails when consent would be over`() {
    var pair = connected(["10.0.0.1"], ["10.0.0.2"])
    pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressA, port: 5_000)]
    pair.a.agent.setLocalCandidates([], isComplete: true, now: pair.now)
    let time = pair.run(for: .seconds(60)) { $0.a.agent.state == .failed }
    #expect(time == .seconds(30) && pair.a.agent.nextDeadline == nil)
  }

  @Test func `while candidates are being gathered it does not give up`() {
    var pair = AgentPair()
    pair.exchange(["10.0.0.1"], ["fd00::2"])
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]), isComplete: false, now: pair.now)
    pair.a.agent.endRemoteCandidates(now: pair.now)
    pair.run(for: .seconds(20))
    #expect(pair.a.agent.state == .checking)
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1", "fd00::1"]), isComplete: true, now: pair.now)
    pair.run(for: .seconds(1)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree)
  }

  @Test(arguments: [ICETransportPolicy.all, .relay])
  func `a relayed candidate is paired with its carrier, and with policy relay alone`(policy: ICETransportPolicy) {
    var configuration = ICEConfiguration()
    configuration.transportPolicy = policy
    var pair = AgentPair()
    pair.a = Side(role: .controlling, seed: 2, configuration: configuration)
    pair.carriers[Self.relayA] = .relay(3)
    if policy == .all { pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressA, port: 5_000)] }
    pair.a.agent.setLocalCandidates(
      AgentPair.hosts(["10.0.0.1"]) + [Self.relay()], isComplete: true, now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    let time = pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree && time < .milliseconds(300))
    #expect(pair.a.agent.selectedRoute?.kind == .relay(3))
    #expect(pair.a.agent.selectedPair?.local.kind == .relayed && pair.b.agent.selectedPair?.remote.kind == .relayed)
    // B's checks of A's host address are not even refused.
    #expect((pair.a.agent.statistics.drops(.forbiddenRoute) > 0) == (policy == .relay))
  }

  @Test func `a check that comes by a relay finds the relayed candidate, whatever it knows of its sender`() {
    var pair = AgentPair()
    pair.carriers[Self.relayA] = .relay(3)
    pair.a.agent.setLocalCandidates([Self.relay()], isComplete: true, now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.b.agent.addRemoteCandidate(Self.relay(), now: pair.now)
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected && pair.routesAgree)
    let selected = pair.a.agent.selectedPair
    #expect(selected?.local.kind == .relayed && selected?.remote.kind == .peerReflexive)
    #expect(pair.a.agent.selectedRoute?.kind == .relay(3))
  }

  @Test func `a relay that dies takes its pairs with it`() {
    var pair = AgentPair()
    pair.carriers[Self.relayA] = .relay(3)
    pair.network.blockedAddresses = [SocketAddress(ip: AgentPair.addressA, port: 5_000)]
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]) + [Self.relay()], isComplete: true, now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.2"]), now: pair.now)
    pair.exchangeCredentials()
    pair.exchangeCandidates()
    pair.run(for: .seconds(5)) { $0.areConnected }
    pair.network.blockedAddresses = [Self.relayA]
    pair.a.agent.setLocalCandidates(AgentPair.hosts(["10.0.0.1"]), isComplete: true, now: pair.now)
    let time = pair.run(for: .seconds(5)) { $0.a.agent.selectedRoute?.kind == .udp(port: 0) }
    #expect(time < .milliseconds(200))
    pair.run(for: .seconds(10)) { $0.areConnected && $0.routesAgree }
    #expect(pair.areConnected && pair.routesAgree)
  }

  @Test func `a way that the system refuses is silent at once, and another is taken`() {
    var pair = connected(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
    pair.run(for: .seconds(10))
    let refused = pair.a.agent.selectedRoute!
    pair.network.blockedAddresses = [refused.local]
    pair.a.agent.refuse(refused, now: pair.now)
    pair.run(for: .zero)
    #expect(pair.a.agent.state == .disconnected)
    let time = pair.run(for: .seconds(5)) { $0.a.agent.state == .connected }
    #expect(time < .milliseconds(200) && pair.a.agent.selectedRoute != refused)
  }

  @Test func `a refusal that was only for a moment is over with the next answer`() {
    var pair = connected(["10.0.0.1"], ["10.0.0.2"])
    pair.run(for: .seconds(10))
    pair.a.agent.refuse(pair.a.agent.selectedRoute!, now: pair.now)
    pair.run(for: .zero)
    #expect(pair.a.agent.state == .disconnected)
    #expect(pair.run(for: .seconds(5)) { $0.areConnected } < .seconds(1))
  }
}
