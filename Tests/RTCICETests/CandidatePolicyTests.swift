import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Where a remote peer cannot have checks sent to.
@Suite struct CandidatePolicyTests {
  private func pairs(with remote: String, port: UInt16 = 5_000, from local: [String] = ["10.0.0.1", "fd00::1"])
    -> Int
  {
    var side = Side(role: .controlling, seed: 1)
    side.agent.addLocalCandidates(AgentPair.hosts(local), now: .zero)
    side.agent.addRemoteCandidate(
      ICECandidate(
        address: SocketAddress(ip: IPAddress(remote)!, port: port), priority: 1, kind: .host, foundation: "1"),
      now: .zero)
    return side.agent.pairCount
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "169.254.169.254",
    "169.254.170.2", "100.100.100.200", "168.63.129.16", "::", "ff02::1", "ff0e::1", "fd00:ec2::254",
    "::ffff:10.0.0.2", "::10.0.0.2",
  ]) func `addresses that are no peer's are never checked`(address: String) {
    #expect(pairs(with: address) == 0)
  }

  @Test(arguments: ["10.0.0.2", "192.168.1.1", "100.64.0.1", "172.16.0.1", "1.2.3.4", "2001:db8::2", "fd12::1"])
  func `private and public addresses are`(address: String) {
    #expect(pairs(with: address) == 1)
  }

  @Test func `loopback is checked from loopback alone, and link-local from link-local`() {
    #expect(pairs(with: "127.0.0.1") == 0)
    #expect(pairs(with: "127.0.0.1", from: ["127.0.0.1", "10.0.0.1"]) == 1)
    #expect(pairs(with: "10.0.0.2", from: ["127.0.0.1"]) == 0)
    #expect(pairs(with: "fe80::2") == 0)
    #expect(pairs(with: "fe80::2", from: ["fe80::1", "2001:db8::1"]) == 1)
  }

  @Test func `ports of services are not checked, web ports on public addresses are`() {
    for port in [1, 19, 22, 25, 53, 69, 123, 161, 500, 1_023, 1_900, 5_353, 11_211] as [UInt16] {
      #expect(pairs(with: "1.2.3.4", port: port) == 0, "port \(port)")
    }
    for port in [80, 443, 1_024, 3_478, 5_060, 65_535] as [UInt16] { #expect(pairs(with: "1.2.3.4", port: port) == 1) }
    #expect(pairs(with: "192.168.1.1", port: 443) == 0 && pairs(with: "fd12::1", port: 80) == 0)
  }

  @Test func `a peer behind a NAT may come from any port, but from no forbidden address`() {
    var pair = AgentPair()
    pair.exchangeCredentials()
    pair.a.agent.addLocalCandidates(AgentPair.hosts(["198.51.100.1"]), now: pair.now)
    pair.b.agent.addLocalCandidates(AgentPair.hosts(["1.2.3.4"], port: 700), now: pair.now)
    pair.b.agent.addRemoteCandidate(AgentPair.hosts(["198.51.100.1"])[0], now: pair.now)
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected && pair.a.agent.selectedRoute?.remote.port == 700)

    var forbidden = AgentPair()
    forbidden.exchangeCredentials()
    forbidden.a.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: forbidden.now)
    forbidden.b.agent.addLocalCandidates(AgentPair.hosts(["169.254.169.254"]), now: forbidden.now)
    let here = AgentPair.hosts(["169.254.0.7"])[0]
    forbidden.b.agent.addRemoteCandidate(here, now: forbidden.now)
    forbidden.run(for: .seconds(2))
    #expect(forbidden.a.agent.pairCount == 0)
  }

  @Test func `private addresses are checked from private ones alone`() {
    for (own, named, pairs) in [
      ("203.0.113.9", "192.168.1.5", 0), ("203.0.113.9", "10.2.3.4", 0), ("203.0.113.9", "100.64.0.1", 0),
      ("203.0.113.9", "198.51.100.7", 1), ("192.168.7.7", "10.2.3.4", 1), ("10.0.0.1", "198.51.100.7", 1),
      ("2001:db8::1", "fd00::1", 0), ("fd00::2", "fd00::1", 1), ("127.0.0.1", "127.0.0.1", 1),
      ("192.168.7.7", "127.0.0.1", 0),
    ] {
      var side = Side(role: .controlling, seed: 1)
      side.agent.addLocalCandidates(AgentPair.hosts([own]), now: .zero)
      side.agent.setRemote(credentials: ICECredentials(using: &side.generator), now: .zero)
      for candidate in AgentPair.hosts([named], port: 6_000) { side.agent.addRemoteCandidate(candidate, now: .zero) }
      #expect(side.agent.pairCount == pairs, "\(own) to \(named)")
    }
  }

  @Test func `a check from a private address is answered and followed from a public one`() {
    var pair = AgentPair()
    pair.exchange(["203.0.113.9"], ["192.168.1.5"])
    pair.run(for: .seconds(2)) { $0.areConnected }
    let connected = pair.areConnected
    #expect(connected, "B may reach A, whose address is public")
  }
}
