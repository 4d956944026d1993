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
}
