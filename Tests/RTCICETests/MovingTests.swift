import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// The way media goes may change without a restart.
@Suite struct MovingTests {
  @Test(arguments: [ICERole.controlling, .controlled]) func `a new mapping at the peer's NAT is followed`(
    roleA: ICERole
  ) {
    var pair = AgentPair(roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling)
    pair.exchange()
    pair.run(for: .seconds(1)) { $0.areConnected }
    pair.run(for: .seconds(20))
    pair.publicPortOfB = 6000
    pair.run(for: .seconds(20)) { $0.a.agent.selectedRoute?.remote.port == 6000 && $0.areConnected }
    #expect(pair.a.agent.selectedRoute?.remote.port == 6000)
    pair.run(for: .seconds(100))
    #expect(pair.areConnected == true)
    #expect(!pair.a.events.contains(.stateChanged(.failed)) && !pair.b.events.contains(.stateChanged(.failed)))
  }

  @Test(arguments: [ICERole.controlling, .controlled]) func `another valid pair takes over`(roleA: ICERole) {
    var pair = AgentPair(roleA: roleA, roleB: roleA == .controlling ? .controlled : .controlling)
    // IPv6 is slower to start: the other pair is checked and valid by then.
    pair.exchange(["10.0.0.1", "fd00::1"], ["10.0.0.2", "fd00::2"])
    pair.run(for: .seconds(20))
    #expect(pair.areConnected == true)
    let first = pair.a.agent.selectedRoute!
    pair.network.blockedAddresses = [first.local, first.remote]
    pair.run(for: .seconds(25)) { $0.areConnected && $0.routesAgree && $0.a.agent.selectedRoute != first }
    #expect(pair.areConnected == true && pair.routesAgree == true && pair.a.agent.selectedRoute != first)
    pair.run(for: .seconds(100))
    #expect(pair.areConnected == true && pair.routesAgree == true)
  }

  @Test func `a lite peer is connected to`() throws {
    var side = Side(role: .controlling, seed: 1)
    var generator = SeededGenerator(seed: 2)
    let lite = ICECredentials(using: &generator)
    side.agent.addLocalCandidates(AgentPair.hosts(["10.0.0.1"]), now: .zero)
    side.agent.setRemote(credentials: lite, isLite: true, now: .zero)
    side.agent.addRemoteCandidate(AgentPair.hosts(["10.0.0.2"])[0], now: .zero)
    var now = Timestamp.zero
    var batch = DatagramBatch(capacity: 4096)
    var nominations = 0
    while side.agent.state != .connected, let next = side.agent.nextDeadline, next < .zero + .seconds(1) {
      now = max(now, next)
      side.agent.deadlineReached(now: now, into: &batch, events: &side.events)
      while batch.count > 0 {
        let request = firstDatagram(of: batch)
        let route = batch.entries[0].route
        batch.removeAll()
        let reply = try answer(request, route: route, credentials: lite, nominations: &nominations)
        side.agent.receive(reply.datagram(0), route: route, now: now, into: &batch, events: &side.events)
      }
    }
    #expect(side.agent.state == .connected && nominations == 1)
  }

  private func firstDatagram(of batch: borrowing DatagramBatch) -> [UInt8] {
    let datagram = batch.datagram(0)
    return datagram.indices.map { datagram[$0] }
  }

  /// A lite agent answers and does nothing else (RFC 8445 §7).
  private func answer(
    _ bytes: [UInt8], route: Route, credentials: ICECredentials, nominations: inout Int
  ) throws -> DatagramBatch {
    let key = STUNIntegrityKey(password: credentials.password)
    let request = try STUNMessage(parsing: bytes.span)
    #expect(request.isAuthentic(key: key) == true)
    #expect(ICEDemultiplexer.localUsernameFragment(of: bytes.span) == credentials.usernameFragment)
    nominations += request.nominates ? 1 : 0
    let id = request.header.transactionID
    var reply = DatagramBatch(capacity: 4096)
    reply.append(to: route) { out in
      var writer = STUNMessageWriter(.success, transactionID: id, into: out._mutatingExtracting(0..<out.count))
      writer.writeXorMappedAddress(route.local)
      return writer.finish(key: key)
    }
    return reply
  }
}
