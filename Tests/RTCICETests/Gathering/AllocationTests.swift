import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

/// Allocations at TURN servers: how they are made, kept and lost (RFC 8656 §7, §8).
@Suite struct AllocationTests {
  private let cone = NATKind(mapping: .endpointIndependent, filtering: .addressAndPortDependent)

  @Test func `a relayed candidate comes after two round trips`() throws {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    let time = world.run(for: .seconds(1)) { host.gatherer.isComplete }
    #expect(time == .milliseconds(40))
    #expect(host.gatherer.candidates.map(\.kind) == [.host, .serverReflexive, .relayed])
    let relayed = try #require(host.candidates(.relayed).first)
    #expect(relayed.address.ip == world.servers[0].address.ip && relayed.carrier == .relay(100))
    #expect(relayed.relatedAddress == host.candidates(.serverReflexive).first?.address)
    #expect(relayed.priority < 1 << 24)
    #expect(world.servers[0].emulator.requests[.allocate] == 2)
  }

  @Test func `a relay by UDP is preferred to one by TCP and that to one by TLS`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    for transport in [CandidateGatherer.Server.Transport.tls, .tcp, .udp] { host.addTURN(transport: transport) }
    world.run(for: .seconds(1))
    #expect(host.candidates(.relayed).map(\.carrier) == [.relay(100), .relay(200), .relay(300)])
    #expect(host.candidates(.serverReflexive).isEmpty == true)
  }

  @Test func `both families are asked for, and one is enough`() {
    for (ips, expected) in [
      (["198.51.100.1", "2001:db8::1"], 2), (["198.51.100.1"], 1), (["2001:db8::1"], 1),
    ] {
      let world = NATWorld()
      world.addServer { $0.relayIPs = ips.map { IPAddress($0)! } }
      let host = world.addHost()
      host.addTURN()
      world.run(for: .seconds(1))
      #expect(host.candidates(.relayed).count == expected, "\(ips)")
      #expect(host.failures.isEmpty)
    }
  }

  @Test func `one server in both roles is told apart`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addSTUN()
    host.addTURN()
    world.run(for: .seconds(1))
    #expect(host.gatherer.candidates.map(\.kind) == [.host, .serverReflexive, .relayed])
    #expect(host.events.count { if case .serverAnswered = $0.event { true } else { false } } == 2)
  }

  @Test func `the same server twice is refused`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addTURN()
    host.add(
      .turn(
        id: 7, route: Route(local: SocketAddress(ip: .v4(0), port: 5_000), remote: world.servers[0].address), relay: 9,
        username: "user", credential: "secret"))
    world.run(for: .seconds(1))
    #expect(host.failures == [.duplicate] && host.candidates(.relayed).count == 1)
  }

  @Test(arguments: [Int64(1_000), 7_900_000_000]) func `an allocation lasts for ten hours and tells nothing`(
    start: Int64
  ) {
    let world = NATWorld(now: .zero + .seconds(start))
    world.addServer { $0.nonceLifetime = .seconds(1_000) }
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    world.run(for: .seconds(1))
    let (relayed, told) = (host.candidates(.relayed), host.events.count)
    world.run(for: .seconds(36_000))
    #expect(relayed.count == 1 && host.candidates(.relayed) == relayed && host.events.count == told)
    #expect(world.servers[0].emulator.allocationCount(at: world.now) == 1)
    // Every 20…25 s because of the NAT, and once more for each stale nonce.
    #expect((1_440...1_840).contains(world.servers[0].emulator.requests[.refresh] ?? 0))
  }

  @Test(arguments: [20, 90, 600, 100_000] as [UInt32]) func `a lifetime of any length is refreshed in time`(
    lifetime: UInt32
  ) {
    let world = NATWorld()
    world.addServer { $0.lifetime = lifetime }
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(7_200))
    #expect(host.candidates(.relayed).count == 1 && host.failures.isEmpty)
    #expect(world.servers[0].emulator.requests[.allocate] == 2)
  }

  @Test func `allocations last through loss`() {
    for seed in 1...10 as ClosedRange<UInt64> {
      let world = NATWorld(seed: seed, conditions: .lossy(0.2))
      world.addServer()
      let host = world.addHost(behind: world.addGateway(cone), seed: seed)
      host.addTURN()
      world.run(for: .seconds(60)) { !host.candidates(.relayed).isEmpty }
      let relayed = host.candidates(.relayed)
      world.run(for: .seconds(1_800))
      #expect(relayed.count == 1 && host.candidates(.relayed) == relayed, "seed \(seed)")
    }
  }

  @Test func `a server that was restarted is noticed and asked anew`() throws {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    world.run(for: .seconds(120))
    let first = try #require(host.candidates(.relayed).first)
    world.servers[0].emulator.restart()
    world.run(for: .seconds(30))
    #expect(host.failures == [.allocationLost])
    let second = try #require(host.candidates(.relayed).first)
    #expect(second.address != first.address)
  }

  @Test func `a restarted server is noticed at once when asked to look`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    world.run(for: .seconds(120))
    world.servers[0].emulator.restart()
    host.probe()
    let time = world.run(for: .seconds(30)) { host.failures == [.allocationLost] && !host.candidates(.relayed).isEmpty }
    #expect(time <= .milliseconds(120))
  }

  @Test func `a server that dies is given up and comes back`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    world.run(for: .seconds(120))
    world.servers[0].emulator.options.isDead = true
    world.run(for: .seconds(100)) { host.candidates(.relayed).isEmpty }
    guard case .noAnswer? = host.failures.last else {
      Issue.record("\(host.failures)")
      return
    }
    world.run(for: .seconds(1_000))
    world.servers[0].emulator.options.isDead = false
    world.servers[0].emulator.restart()
    world.run(for: .seconds(400)) { !host.candidates(.relayed).isEmpty }
    #expect(host.candidates(.relayed).count == 1)
  }

  @Test func `an outage of ten seconds costs nothing`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost(behind: world.addGateway(cone))
    host.addTURN()
    world.run(for: .seconds(120))
    let relayed = host.candidates(.relayed)
    for _ in 0..<20 {
      world.internet.conditions = .broken
      world.run(for: .seconds(10))
      world.internet.conditions = .delayed(.milliseconds(10))
      world.run(for: .seconds(33))
    }
    #expect(host.candidates(.relayed) == relayed && host.failures.isEmpty)
  }

  @Test func `a sleep of an hour ends with another allocation`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(120))
    world.internet.conditions = .broken
    world.run(for: .seconds(3_600))
    world.internet.conditions = .delayed(.milliseconds(10))
    host.probe()
    world.run(for: .seconds(2)) { !host.candidates(.relayed).isEmpty }
    #expect(host.candidates(.relayed).count == 1)
  }

  @Test func `another address of ours means another allocation, at once`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(120))
    let requests = world.servers[0].emulator.requests[.allocate] ?? 0
    host.setBases([.init(address: SocketAddress(ip: IPAddress("192.0.2.77")!, port: 5_000))])
    #expect(host.candidates(.relayed).isEmpty == true)
    world.run(for: .milliseconds(15))
    #expect(world.servers[0].emulator.requests[.allocate] == requests + 1)
  }

  @Test func `what is no longer wanted is given back`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(1))
    host.remove(server: 100)
    #expect(host.candidates(.relayed).isEmpty == true)
    host.addTURN(transport: .tcp)
    world.run(for: .seconds(1))
    #expect(world.servers[0].emulator.allocationCount(at: world.now) == 1)
    host.close()
    world.run(for: .seconds(1))
    #expect(world.servers[0].emulator.allocationCount(at: world.now) == 0)
    #expect(host.gatherer.nextDeadline == .distantFuture)
  }

  @Test func `an allocation left from before is released first`() {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(1))
    host.startAgain()
    #expect(host.candidates(.relayed).isEmpty == true)
    host.addTURN()
    world.run(for: .seconds(1))
    #expect(host.candidates(.relayed).count == 1 && host.failures.isEmpty)
    #expect(world.servers[0].emulator.allocationCount(at: world.now) == 1)
  }
}
