import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Nothing that comes from a server's address crashes the gatherer, makes it send without end, or gets by it as a peer's.
@Suite struct HostileServerTests {
  private func bench() -> (world: NATWorld, host: GatheringHost, route: Route) {
    let world = NATWorld()
    world.addServer()
    let host = world.addHost()
    world.addHost()
    host.addTURN()
    host.addSTUN()
    world.run(for: .seconds(1))
    let relayed = host.candidates(.relayed)[0]
    host.send(
      [0x80, 1, 2], by: Route(local: relayed.address, remote: world.hosts[1].address, kind: relayed.carrier))
    world.run(for: .seconds(1))
    return (world, host, Route(local: host.address, remote: world.servers[0].address))
  }

  @Test func `ChannelData of unknown channels and false lengths is dropped`() {
    let (world, host, route) = bench()
    defer { withExtendedLifetime(world) {} }
    for bytes in [
      [0x40, 0], [0x40, 0, 0, 0], [0x40, 0, 0, 5, 1, 2, 3, 4], [0x40, 1, 0, 1, 1], [0x4F, 0xFF, 0, 1, 1],
      [0x50, 0, 0, 1, 1], [0x7F, 0xFF, 0, 1, 1], [], [0x40],
    ] as [[UInt8]] { host.receive(bytes, route: route) }
    #expect(host.received.isEmpty == true)
    host.receive([0x40, 0, 0, 2, 8, 9, 0, 0], route: route)
    #expect(host.received.map(\.bytes) == [[8, 9]])
  }

  @Test func `indications without data or peer are dropped`() {
    let (world, host, route) = bench()
    defer { withExtendedLifetime(world) {} }
    func indication(_ method: STUNMethod, _ body: (inout STUNMessageWriter) -> Void) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 256)
      var span = bytes.mutableSpan
      var writer = STUNMessageWriter(
        .indication, method: method, transactionID: STUNTransactionID(high: 1, low: 2),
        into: span._mutatingExtracting(0..<256))
      body(&writer)
      let count = writer.finish(key: nil)
      return Array(bytes.prefix(count))
    }
    let peer = SocketAddress(ip: IPAddress("192.0.2.9")!, port: 5)
    host.receive(indication(.data) { $0.write(.data, [1, 2].span) }, route: route)
    host.receive(indication(.data) { $0.writeXorAddress(.xorPeerAddress, peer) }, route: route)
    host.receive(
      indication(.send) {
        $0.writeXorAddress(.xorPeerAddress, peer)
        $0.write(.data, [1, 2].span)
      }, route: route)
    host.receive(
      indication(.data) {
        $0.writeXorAddress(.xorPeerAddress, SocketAddress(ip: .v4(0xE000_0001), port: 5))
        $0.write(.data, [1, 2].span)
      }, route: route)
    #expect(host.received.isEmpty == true)
    host.receive(
      indication(.data) {
        $0.writeXorAddress(.xorPeerAddress, peer)
        $0.write(.data, [1, 2].span)
      }, route: route)
    #expect(host.received.map(\.bytes) == [[1, 2]] && host.received[0].route.remote == peer)
  }

  @Test func `responses to nothing that is under way are ignored`() {
    let (world, host, route) = bench()
    let candidates = host.gatherer.candidates
    for kind in [STUNClass.success, .error, .request] {
      for method in [STUNMethod.binding, .allocate, .refresh, .createPermission, .channelBind, .data] {
        var bytes = [UInt8](repeating: 0, count: 256)
        var span = bytes.mutableSpan
        var writer = STUNMessageWriter(
          kind, method: method, transactionID: STUNTransactionID(high: 1, low: 2),
          into: span._mutatingExtracting(0..<256))
        writer.writeXorMappedAddress(SocketAddress(ip: IPAddress("203.0.113.99")!, port: 9))
        writer.write(STUNErrorCode.allocationMismatch)
        let count = writer.finish(key: nil)
        host.receive(Array(bytes.prefix(count)), route: route)
      }
    }
    world.run(for: .seconds(100))
    #expect(host.gatherer.candidates == candidates && host.failures.isEmpty)
  }

  @Test func `the right answer from another server's address is ignored`() throws {
    var gatherer = CandidateGatherer(seed: 3)
    var batch = DatagramBatch(capacity: 4_096)
    var events: [CandidateGatherer.Event] = []
    let own = SocketAddress(ip: IPAddress("10.0.0.2")!, port: 5_000)
    let routes = ["198.51.100.1", "198.51.100.2"].map {
      Route(local: own, remote: SocketAddress(ip: IPAddress($0)!, port: 3_478))
    }
    gatherer.setBases([.init(address: own)], now: .zero, into: &batch, events: &events)
    for (id, route) in routes.enumerated() {
      gatherer.add(.stun(id: id, route: route), now: .zero, into: &batch, events: &events)
    }
    let request = try STUNMessage(parsing: batch.datagram(0)).header
    var answer = [UInt8](repeating: 0, count: 64)
    var span = answer.mutableSpan
    var writer = STUNMessageWriter(
      .success, transactionID: request.transactionID, into: span._mutatingExtracting(0..<64))
    writer.writeXorMappedAddress(SocketAddress(ip: IPAddress("203.0.113.9")!, port: 9))
    let count = writer.finish(key: nil)
    answer.removeLast(64 - count)
    var wrongPort = routes[0]
    wrongPort.remote.port = 3_479
    for route in [routes[1], wrongPort, routes[0]] {
      let before = gatherer.candidates.count
      _ = gatherer.receive(answer.span, route: route, now: .zero + .milliseconds(5), into: &batch, events: &events)
      let added = gatherer.candidates.count - before
      #expect(added == (route == routes[0] ? 1 : 0))
    }
  }

  @Test func `random bytes and flipped bits do no harm`() {
    var random = SeededGenerator(seed: 3)
    for seed in 1...20 as ClosedRange<UInt64> {
      let world = NATWorld(seed: seed)
      world.addServer()
      let host = world.addHost(seed: seed)
      host.addTURN()
      host.addSTUN()
      world.tamper = { bytes in
        guard random.next() % 3 == 0, !bytes.isEmpty else { return }
        for _ in 0...Int(random.next() % 4) {
          bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
        }
        if random.next() % 4 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
      }
      world.run(for: .seconds(600))
      let requests = world.servers[0].emulator.requests.values.reduce(0, +)
      #expect(requests < 400, "seed \(seed)")
      world.tamper = nil
      world.run(for: .seconds(1_000))
      #expect(host.candidates(.relayed).count == 1 || !host.failures.isEmpty, "seed \(seed)")
    }
  }
}
