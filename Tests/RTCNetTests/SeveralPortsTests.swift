import Glibc
import RTCNet
import RTCPrimitives
import Testing

/// One loop with several UDP ports.
@Suite(.timeLimit(.minutes(1))) struct SeveralPortsTests {
  @Test func `what comes to a port says so, and goes out from the port of its route`() throws {
    let near = try LoopFixture(echoes: true)
    let far = try LoopFixture()
    let added = Inbox<(kind: Route.Kind, number: UInt16)>()
    near.loop.post { [loop = near.loop] in
      guard let port = try? UDPPort() else { return }
      let number = port.number
      if let kind = try? loop.add(port) { added.append((kind, number)) }
    }
    let second = try #require(added.wait(for: 1).first)
    #expect(second.kind == .udp(port: 1) && second.number != near.loop.port)
    let ip = try #require(loopbackAddresses.first)
    for number in [near.loop.port, second.number] {
      let route = Route(local: far.address(ip), remote: SocketAddress(ip: ip, port: number))
      far.send([Datagram(bytes: [1, 2, 3], route: route)])
    }
    let came = near.inbox.wait(for: 2)
    #expect(Set(came.map(\.route.kind)) == [.udp(port: 0), .udp(port: 1)])
    for datagram in came {
      let isFirst = datagram.route.kind == .udp(port: 0)
      #expect(datagram.route.local.port == (isFirst ? near.loop.port : second.number))
    }
    // The echoes come from the port that each was sent to.
    let echoes = far.inbox.wait(for: 2)
    #expect(Set(echoes.map(\.route.remote.port)) == [near.loop.port, second.number])
    #expect(echoes.allSatisfy { $0.bytes == [254, 253, 252] })
    #expect(near.counters.receivedDatagrams == 2 && near.counters.sentDatagrams == 2)
  }

  @Test func `a hundred ports are added and removed, and what is sent by a port that is gone is left out`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let results = Inbox<[Route.Kind]>()
    near.loop.post { [loop = near.loop] in
      let kinds = (0..<100).compactMap { _ in try? loop.add(UDPPort(UDPPort.Options(address: .loopbackV4))) }
      for kind in kinds[50...] { loop.remove(kind) }
      let more = try? loop.add(UDPPort(UDPPort.Options(address: .loopbackV4)))
      results.append(kinds + (more.map { [$0] } ?? []))
    }
    let kinds = results.wait(for: 1)[0]
    // No number is given twice.
    #expect(Set(kinds).count == 101)
    near.send(
      kinds.map { kind in
        var route = near.route(to: far, .loopbackV4, from: .v4(0))
        route.kind = kind
        return Datagram(bytes: [9], route: route)
      })
    #expect(Set(far.inbox.wait(for: 51).map(\.route.remote.port)).count == 51)
    #expect(near.counters.sentDatagrams == 51)
    // What is sent to them arrives.
    let ports = Set(far.inbox.all.map(\.route.remote.port))
    far.send(
      ports.map { port in
        Datagram(
          bytes: [1],
          route: Route(local: far.address(.loopbackV4), remote: SocketAddress(ip: .loopbackV4, port: port)))
      })
    #expect(Set(near.inbox.wait(for: 51).map(\.route.kind)) == Set(kinds[..<50] + kinds[100...]))
  }

  @Test func `a route that the kernel refuses is told once, with the reason`() throws {
    let near = try LoopFixture()
    let notOurs = Route(
      local: near.address(.v4(0xCB00_7109)), remote: SocketAddress(ip: .loopbackV4, port: 9))
    near.send(numbered(5, size: 100, to: notOurs) + numbered(3, size: 20, to: notOurs))
    let refusals = Inbox<[SendRefusal]>()
    for _ in 0..<2 {
      near.loop.post { [loop = near.loop] in
        var taken: [SendRefusal] = []
        loop.takeRefusals(into: &taken)
        refusals.append(taken)
      }
    }
    let taken = refusals.wait(for: 2)
    #expect(taken[0].map(\.route) == [notOurs] && [EINVAL, ENETUNREACH].contains(taken[0].first?.errno), "\(taken)")
    #expect(taken[1].isEmpty)
  }
}
