import RTCNet
import RTCPrimitives
import Testing

@Suite struct RoutingTests {
  @Test func `datagrams leave from the local address their route names`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let sources = (2...6).map { IPAddress.v4(0x7F00_0000 + $0) }
    let target = IPAddress.v4(0x7F00_0009)
    near.send(sources.flatMap { numbered(2, size: 100, to: near.route(to: far, target, from: $0)) })
    let routes = far.inbox.wait(for: 10).map(\.route)
    #expect(
      routes
        == sources.flatMap {
          Array(repeating: Route(local: far.address(target), remote: near.address($0)), count: 2)
        })
  }

  @Test func `an unspecified local address lets the kernel choose`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    near.send(numbered(1, size: 10, to: near.route(to: far, .loopbackV4, from: .v4(0))))
    #expect(far.inbox.wait(for: 1).first?.route.remote == near.address(.loopbackV4))
  }

  @Test func `one batch reaches several ports on both IP versions`() throws {
    let near = try LoopFixture()
    let far = [try LoopFixture(), try LoopFixture()]
    let ips = loopbackAddresses
    let routes = far.flatMap { peer in ips.map { near.route(to: peer, $0) } }
    near.send((0..<30).flatMap { i in routes.flatMap { numbered(1, size: 200 + i, to: $0) } })
    for peer in far {
      let arrived = peer.inbox.wait(for: 30 * ips.count)
      for ip in ips {
        let sizes = arrived.filter { $0.route.local.ip == ip }.map(\.bytes.count)
        #expect(sizes == Array(200..<230))
      }
    }
  }

  @Test func `a refused destination is counted and does not stop the rest`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let good = near.route(to: far, .loopbackV4)
    let notOurs = near.route(to: far, .loopbackV4, from: .v4(0xCB00_7109))  // 203.0.113.9
    let mixed = Route(local: near.address(.loopbackV6), remote: far.address(.loopbackV4))
    near.send(
      numbered(2, size: 100, to: good) + numbered(5, size: 100, to: notOurs) + numbered(1, size: 100, to: mixed)
        + numbered(3, size: 100, to: good))
    #expect(far.inbox.wait(for: 5).count == 5)
    let counters = near.counters
    #expect(counters.sentDatagrams == 5)
    #expect(counters.droppedRefused == 6)
    // The source was at fault, not the segmentation: runs to this destination stay segmented.
    near.send(numbered(4, size: 100, to: good))
    #expect(far.inbox.wait(for: 4).count == 9)
    #expect(near.counters.segmentedDatagrams == 9)
  }

  @Test func `a datagram to a closed port is lost without harm`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let closed = try { try UDPPort().number }()
    let nobody = Route(
      local: near.address(.loopbackV4), remote: SocketAddress(ip: .loopbackV4, port: closed))
    for _ in 0..<3 {
      near.send(numbered(1, size: 10, to: nobody) + numbered(1, size: 20, to: near.route(to: far, .loopbackV4)))
    }
    #expect(far.inbox.wait(for: 3).map(\.bytes.count) == [20, 20, 20])
  }
}
