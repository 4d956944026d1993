import RTCICE
import RTCPrimitives
import RTCTestKit
import Testing

/// Datagrams by a relay: permissions, channels, and what is sent before they are there (RFC 8656 §9–§12).
@Suite struct RelayingTests {
  private let check: [UInt8] = [0, 1] + [UInt8](repeating: 7, count: 60)
  private let media: [UInt8] = [0x80, 96] + [UInt8](repeating: 9, count: 200)

  /// A host with an allocation, and others that nothing stands before.
  private func world(
    peers: Int = 1, transport: CandidateGatherer.Server.Transport = .udp,
    _ change: (inout TURNServerEmulator.Options) -> Void = { _ in }
  ) throws -> (world: NATWorld, host: GatheringHost, routes: [Route]) {
    let world = NATWorld()
    world.addServer(change)
    let host = world.addHost(
      behind: world.addGateway(NATKind(mapping: .addressAndPortDependent, filtering: .addressAndPortDependent)))
    for _ in 0..<peers { world.addHost() }
    host.addTURN(transport: transport)
    world.run(for: .seconds(1))
    let relayed = try #require(host.candidates(.relayed).first)
    return (
      world, host,
      world.hosts.dropFirst().map { Route(local: relayed.address, remote: $0.address, kind: relayed.carrier) }
    )
  }

  @Test(arguments: [CandidateGatherer.Server.Transport.udp, .tcp]) func `checks go both ways at once, by indications`(
    transport: CandidateGatherer.Server.Transport
  ) throws {
    let (world, host, routes) = try world(transport: transport)
    let peer = world.hosts[1]
    host.send(check, by: routes[0])
    world.run(for: .milliseconds(20))
    // The permission and the datagram went out together.
    #expect(peer.received.map(\.bytes) == [check] && peer.received[0].route.remote == routes[0].local)
    peer.send([1, 1, 5], by: peer.received[0].route)
    world.run(for: .milliseconds(20))
    #expect(host.received.map(\.bytes) == [[1, 1, 5]] && host.received[0].route == routes[0])
    #expect(world.servers[0].emulator.requests[.channelBind] == nil)
  }

  @Test func `more than checks gets a channel`() throws {
    let (world, host, routes) = try world()
    let peer = world.hosts[1]
    for _ in 0..<10 {
      host.send(media, by: routes[0])
      world.run(for: .milliseconds(20))
    }
    #expect(peer.received.map(\.bytes) == [[UInt8]](repeating: media, count: 10))
    #expect(world.servers[0].emulator.relayed == (1, 9))
    peer.send(media, by: peer.received[0].route)
    world.run(for: .milliseconds(20))
    #expect(host.received.map(\.bytes) == [media] && host.received[0].route == routes[0])
  }

  @Test func `a run of one size stays one, four bytes longer`() throws {
    let (world, host, routes) = try world()
    host.send(media, by: routes[0])
    world.run(for: .seconds(1))
    var batch = DatagramBatch()
    for _ in 0..<8 { batch.append(media.span, to: routes[0]) }
    let direct = Route(local: host.address, remote: world.hosts[1].address)
    batch.append(check.span, to: direct)
    host.encapsulate(&batch)
    #expect(batch.count == 9 && batch.entries[8].route == direct && batch.entries[8].count == check.count)
    for i in 0..<8 {
      #expect(batch.entries[i].count == media.count + 4 && batch.entries[i].route.remote == world.servers[0].address)
      #expect(batch.entries[i].offset == batch.entries[0].offset + i * (media.count + 4))
    }
  }

  @Test func `permissions and channels last for hours while they are used`() throws {
    let (world, host, routes) = try world()
    let peer = world.hosts[1]
    for _ in 0..<1_440 {
      host.send(media, by: routes[0])
      world.run(for: .seconds(5))
    }
    #expect(peer.received.count == 1_440 && world.servers[0].emulator.unpermitted == 0)
    let requests = world.servers[0].emulator.requests
    #expect((24...34).contains(requests[.createPermission] ?? 0) && (13...16).contains(requests[.channelBind] ?? 0))
    #expect(world.servers[0].emulator.relayed.indications == 1 && host.failures.isEmpty)
  }

  @Test func `what is not used lapses, and is there again when it is used`() throws {
    let (world, host, routes) = try world()
    host.send(media, by: routes[0])
    world.run(for: .seconds(3_600))
    let requests = world.servers[0].emulator.requests
    #expect(requests[.createPermission] == 1 && requests[.channelBind] == 1)
    for _ in 0..<3 {
      host.send(media, by: routes[0])
      world.run(for: .seconds(1))
    }
    #expect(world.hosts[1].received.count == 4 && world.servers[0].emulator.relayed == (2, 2))
  }

  @Test func `one request asks for all permissions of a step`() throws {
    let (world, host, routes) = try world(peers: 10)
    var batch = DatagramBatch()
    for route in routes { batch.append(check.span, to: route) }
    host.send(&batch)
    world.run(for: .milliseconds(20))
    #expect(world.servers[0].emulator.requests[.createPermission] == 1)
    #expect(world.hosts.dropFirst().allSatisfy { $0.received.count == 1 })
  }

  @Test func `a forbidden peer spoils nothing for the others`() throws {
    let (world, host, routes) = try world(peers: 5) { $0.forbiddenPeers = [IPAddress("192.0.2.3")!] }
    for _ in 0..<20 {
      var batch = DatagramBatch()
      for route in routes { batch.append(media.span, to: route) }
      host.send(&batch)
      world.run(for: .seconds(1))
    }
    let counts = world.hosts.dropFirst().map(\.received.count)
    #expect(counts[1] == 0 && [0, 2, 3, 4].allSatisfy { counts[$0] >= 19 })
    #expect(host.failures.isEmpty && (world.servers[0].emulator.requests[.createPermission] ?? 0) <= 8)
  }

  @Test func `without channels everything goes by indications`() throws {
    let (world, host, routes) = try world { $0.hasChannels = false }
    for _ in 0..<100 {
      host.send(media, by: routes[0])
      world.run(for: .seconds(1))
    }
    #expect(world.hosts[1].received.count == 100 && world.servers[0].emulator.relayed == (100, 0))
    #expect(world.servers[0].emulator.requests[.channelBind] == 1)
  }

  @Test func `what was sent before a permission was lost is sent again, so much and no more`() throws {
    let (world, host, routes) = try world()
    world.internet.conditions = .broken
    for number in 0..<50 as Range<UInt8> { host.send([0, number], by: routes[0]) }
    world.internet.conditions = .delayed(.milliseconds(10))
    world.run(for: .seconds(1))
    #expect(world.hosts[1].received.map { $0.bytes[1] } == Array(18..<50))
  }

  @Test func `a stale nonce delays the first datagram by a round trip`() throws {
    let (world, host, routes) = try world()
    world.servers[0].emulator.expireNonces()
    host.send(check, by: routes[0])
    world.run(for: .milliseconds(70))
    #expect(world.hosts[1].received.map(\.bytes) == [check])
  }

  @Test func `peers without end leave a bounded table behind`() throws {
    let (world, host, routes) = try world()
    for number in 0..<5_000 as Range<UInt32> {
      var route = routes[0]
      route.remote = SocketAddress(ip: .v4(0x0B00_0000 + number), port: 9)
      host.send(media, by: route)
      if number % 50 == 0 { world.run(for: .milliseconds(20)) }
    }
    world.run(for: .seconds(10))
    let requests = world.servers[0].emulator.requests
    #expect(requests[.createPermission] == 5_000 && requests[.channelBind] == 256)
    world.run(for: .seconds(3_600))
    #expect(world.servers[0].emulator.requests[.createPermission] ?? 0 < 5_300)
  }

  @Test func `datagrams of another gatherer's allocations are left alone`() throws {
    let (world, host, routes) = try world()
    defer { withExtendedLifetime(world) {} }
    var foreign = routes[0]
    foreign.kind = .relay(77)
    var batch = DatagramBatch()
    for route in [foreign, routes[0], foreign] { batch.append(media.span, to: route) }
    host.encapsulate(&batch)
    #expect(batch.entries.prefix(2).map(\.route) == [foreign, foreign])
    #expect(batch.entries.dropFirst(2).allSatisfy { $0.route.remote == world.servers[0].address })
  }

  @Test func `datagrams of an allocation that is lost are dropped`() throws {
    let (world, host, routes) = try world()
    world.servers[0].emulator.options.allocationError = .forbidden
    world.servers[0].emulator.restart()
    host.probe()
    world.run(for: .seconds(1))
    host.send(media, by: routes[0])
    world.run(for: .seconds(1))
    #expect(world.hosts[1].received.isEmpty && host.candidates(.relayed).isEmpty)
  }

  @Test func `a peer of the other family is not sent to`() throws {
    let (world, host, routes) = try world()
    var route = routes[0]
    route.remote.ip = IPAddress("2001:db8::1")!
    host.send(media, by: route)
    world.run(for: .seconds(1))
    #expect(world.servers[0].emulator.requests[.createPermission] == nil)
  }
}
