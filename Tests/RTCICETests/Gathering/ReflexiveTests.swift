import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

/// Server-reflexive candidates of STUN servers (RFC 8445 §5.1.1.2).
@Suite struct ReflexiveTests {
  private let cone = NATKind(mapping: .endpointIndependent, filtering: .addressAndPortDependent)

  @Test func `a NAT's address becomes a candidate after one round trip`() throws {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    #expect(host.gatherer.isComplete == false)
    let time = world.run(for: .seconds(1)) { host.gatherer.isComplete }
    #expect(time == .milliseconds(20))
    let reflexive = try #require(host.candidates(.serverReflexive).first)
    #expect(reflexive.address.ip == world.internet.gateways[0].externalIP)
    #expect(reflexive.relatedAddress == host.address && reflexive.carrier == .udp(port: 0))
    #expect(reflexive.priority == 100 << 24 | 65_535 << 8 | 255)
    #expect(host.gatherer.candidates.map(\.kind) == [.host, .serverReflexive])
    #expect(Set(host.gatherer.candidates.map(\.foundation)).count == 2)
    #expect(
      host.events.map(\.event) == [
        .candidatesChanged, .candidatesChanged,
        .serverAnswered(id: 0, after: .milliseconds(20), mapped: reflexive.address, relayed: nil), .candidatesChanged,
      ])
  }

  @Test func `an address without a NAT is no second candidate and needs no keep-alive`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addSTUN()
    world.run(for: .seconds(3_600))
    #expect(host.gatherer.candidates.map(\.kind) == [.host])
    #expect(world.servers[0].emulator.requests[.binding] == 1 && host.gatherer.nextDeadline == .distantFuture)
  }

  @Test func `servers that agree make one candidate, and one of them keeps the mapping`() {
    let world = NATWorld()
    for _ in 0..<3 { world.addServer() }
    let host = world.addHost(behind: world.addGateway(cone))
    for server in 0..<3 { host.addSTUN(server) }
    world.run(for: .seconds(600))
    #expect(host.candidates(.serverReflexive).count == 1)
    let requests = world.servers.map { $0.emulator.requests[.binding] ?? 0 }
    #expect((24...41).contains(requests[0]) && requests[1] == 1 && requests[2] == 1)
  }

  @Test func `servers that see different ports make candidates each`() {
    let world = NATWorld()
    for _ in 0..<2 { world.addServer() }
    let host = world.addHost(
      behind: world.addGateway(NATKind(mapping: .addressDependent, filtering: .addressDependent)))
    for server in 0..<2 { host.addSTUN(server) }
    world.run(for: .seconds(600))
    #expect(host.candidates(.serverReflexive).count == 2)
  }

  @Test func `a mapping that a NAT would forget is kept for later`() throws {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    world.run(for: .seconds(2))
    let first = try #require(host.candidates(.serverReflexive).first)
    world.run(for: .seconds(3_600))
    #expect(host.candidates(.serverReflexive) == [first])
  }

  @Test func `a NAT that restarts gives another address, which replaces the candidate`() throws {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    world.run(for: .seconds(2))
    let first = try #require(host.candidates(.serverReflexive).first)
    world.internet.gateways[0].forgetMappings()
    world.run(for: .seconds(30))
    let second = host.candidates(.serverReflexive)
    #expect(second.count == 1 && second != [first])
  }

  @Test func `a dead server fails with the time it had, and gathering is complete after ten seconds`() {
    let world = NATWorld()
    world.addServer { $0.isDead = true }
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    let time = world.run(for: .seconds(60)) { host.gatherer.isComplete }
    #expect(time == .seconds(10) && host.failures.isEmpty)
    world.run(for: .milliseconds(29_500))
    #expect(host.failures == [.noAnswer(after: .milliseconds(39_500))])
    world.servers[0].emulator.options.isDead = false
    world.run(for: .seconds(20))
    #expect(host.candidates(.serverReflexive).count == 1)
  }

  @Test func `answers come through loss`() {
    for seed in 1...30 as ClosedRange<UInt64> {
      let world = NATWorld(seed: seed, conditions: .lossy(0.3))
      world.addServer()
      let host = world.addHost(behind: world.addGateway(cone), seed: seed)
      host.addSTUN()
      world.run(for: .seconds(40)) { !host.candidates(.serverReflexive).isEmpty }
      #expect(host.candidates(.serverReflexive).count == 1, "seed \(seed)")
    }
  }

  @Test func `an answer from another address is ignored`() {
    let world = NATWorld()
    world.addServer()
    world.addServer()
    let host = world.addHost()
    world.internet.conditions = .broken
    host.addSTUN(0)
    world.internet.conditions = .delayed(.milliseconds(10))
    let other = Route(local: host.address, remote: world.servers[1].address)
    #expect(!host.expects(other) && host.expects(Route(local: host.address, remote: world.servers[0].address)))
    #expect(!host.expects(Route(local: host.address, remote: world.servers[0].address, kind: .udp(port: 1))))
  }

  @Test func `hosts alternate families, and what has gone takes its reflexive candidates with it`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    world.run(for: .seconds(1))
    func base(_ ip: String, _ index: UInt32 = 1) -> CandidateGatherer.Base {
      .init(address: SocketAddress(ip: IPAddress(ip)!, port: 5_000), interfaceIndex: index)
    }
    host.setBases([base("127.0.0.1"), base("fe80::5", 3), base("10.0.1.2"), base("10.9.0.2"), base("2001:db8::5")])
    #expect(
      host.candidates(.host).map { "\($0.address)" } == [
        "[2001:db8::5]:5000", "10.0.1.2:5000", "10.9.0.2:5000", "[fe80::5]:5000", "127.0.0.1:5000",
      ])
    #expect(host.candidates(.host)[3].address.ip == .v6(high: 0xFE80 << 48, low: 5, scope: 3))
    let expected: UInt32 = 100 << 24 | (65_535 - 256) << 8 | 255
    #expect(host.candidates(.serverReflexive).map(\.priority) == [expected])
  }
}
