import RTCPrimitives
import RTCTURN
import RTCWire
import Testing

@Suite struct AllocationTests {
  @Test func `an allocation has a relayed address for ten minutes`() {
    var kit = ServerKit()
    let answer = kit.allocate()
    #expect(answer?.code == nil && answer?.isAuthentic == true && answer?.lifetime == 600)
    #expect(answer?.mapped == ServerKit.client.remote)
    #expect(answer?.relayed.map(\.ip) == [ServerKit.relayIP] && kit.open.count == 1)
    kit.wait(599)
    #expect(kit.open.count == 1)
    kit.wait(1)
    #expect(kit.open.isEmpty && kit.server.counters.allocations == 0)
    #expect(kit.permit([ServerKit.peer])?.code == 437)
  }

  @Test func `a longer lifetime is granted up to an hour, and a shorter one is raised to ten minutes`() {
    var kit = ServerKit()
    #expect(kit.allocate(lifetime: 1_800)?.lifetime == 1_800)
    #expect(kit.request(.refresh) { $0.write(.lifetime, 100_000) }?.lifetime == 3_600)
    #expect(kit.request(.refresh) { $0.write(.lifetime, 1) }?.lifetime == 600)
    #expect(kit.request(.refresh)?.lifetime == 600)
  }

  @Test func `a refresh with lifetime zero ends the allocation`() {
    var kit = ServerKit()
    _ = kit.allocate()
    #expect(kit.request(.refresh) { $0.write(.lifetime, 0) }?.lifetime == 0)
    #expect(kit.open.isEmpty)
    #expect(kit.request(.refresh)?.code == 437)
    #expect(kit.allocate()?.code == nil)
  }

  @Test func `a retransmitted Allocate gets the same answer, and another one 437`() {
    var kit = ServerKit()
    let id = kit.freshID()
    let first = kit.allocate(id: id)
    #expect(first?.relayed.count == 1)
    #expect(kit.allocate(id: id) == first)
    #expect(kit.open.count == 1)
    #expect(kit.allocate()?.code == 437)
  }

  @Test func `an allocation belongs to the user who made it`() {
    var kit = ServerKit()
    _ = kit.allocate()
    #expect(kit.request(.refresh, user: "else")?.code == 441)
    #expect(kit.open.count == 1)
  }

  @Test func `each client has an allocation of its own`() {
    var kit = ServerKit()
    let first = kit.allocate()
    let second = kit.allocate(from: ServerKit.other, user: "else")
    #expect(first?.relayed != second?.relayed && kit.open.count == 2)
  }

  @Test func `a stream that ends takes its allocation along`() {
    var kit = ServerKit()
    var client = ServerKit.client
    client.kind = .stream(3)
    _ = kit.allocate(from: client)
    #expect(kit.open.count == 1)
    kit.server.ended(client, into: &kit.out)
    kit.wait(0)
    #expect(kit.open.isEmpty)
  }

  @Test func `requests that make no sense get the error that the RFC names`() {
    var kit = ServerKit()
    #expect(kit.request(.allocate)?.code == 400)
    #expect(kit.request(.allocate) { $0.write(.requestedTransport, 6 << 24) }?.code == 442)
    #expect(
      kit.request(.allocate) {
        $0.write(.requestedTransport, 17 << 24)
        $0.write(.requestedAddressFamily, .v6)
      }?.code == 440)
    #expect(
      kit.request(.allocate) {
        $0.write(.requestedTransport, 17 << 24)
        $0.write(.requestedAddressFamily, .v4)
        $0.write(.additionalAddressFamily, .v6)
      }?.code == 400)
    // RESERVATION-TOKEN.
    #expect(
      kit.request(.allocate) {
        $0.write(.requestedTransport, 17 << 24)
        $0.write(STUNAttributeType(0x22), [1, 2, 3, 4, 5, 6, 7, 8].span)
      }?.code == 508)
    // DONT-FRAGMENT.
    let refused = kit.request(.allocate) {
      $0.write(.requestedTransport, 17 << 24)
      $0.write(STUNAttributeType(0x1A))
    }
    #expect(refused?.code == 420 && refused?.unknown == [STUNAttributeType(0x1A)])
    #expect(kit.open.isEmpty)
  }

  @Test func `addresses of both families are given where the server has both`() {
    let v6 = IPAddress("2001:db8::1")!
    var kit = ServerKit {
      $0.relayIPs.append(v6)
      $0.ownIPs.insert(v6)
    }
    let answer = kit.request(.allocate) {
      $0.write(.requestedTransport, 17 << 24)
      $0.write(.additionalAddressFamily, .v6)
    }
    #expect(answer?.relayed.map(\.ip) == [ServerKit.relayIP, v6])
    // One of them can be given back.
    _ = kit.request(.refresh) {
      $0.write(.requestedAddressFamily, .v4)
      $0.write(.lifetime, 0)
    }
    #expect(Array(kit.open.values.map(\.ip)) == [v6])
    #expect(kit.permit([ServerKit.peer])?.code == 443)
    #expect(kit.permit([ServerKit.address("2001:db8:1::1", 9)])?.code == nil)
  }

  @Test func `quotas for users and networks are 486, and that of the server 508`() {
    var kit = ServerKit {
      $0.limits.allocationsPerUser = 2
      $0.limits.allocationsPerNetwork = 3
      $0.limits.allocations = 4
    }
    func client(_ host: String, _ port: UInt16) -> Route { ServerKit.route(host, port) }
    #expect(kit.allocate(from: client("192.0.2.1", 1))?.code == nil)
    #expect(kit.allocate(from: client("192.0.2.1", 2))?.code == nil)
    #expect(kit.allocate(from: client("192.0.2.2", 1))?.code == 486)
    #expect(kit.allocate(from: client("192.0.2.1", 3), user: "else")?.code == nil)
    #expect(kit.allocate(from: client("192.0.2.1", 4), user: "else")?.code == 486)
    #expect(kit.allocate(from: client("192.0.2.2", 1), user: "else")?.code == nil)
    kit.server.configuration.limits.allocationsPerUser = 9
    #expect(kit.allocate(from: client("192.0.2.3", 1))?.code == 508)
    #expect(kit.server.counters.refusals(with: 486) == 2 && kit.server.counters.refusals(with: 508) == 1)
    // An allocation that ends makes room.
    #expect(kit.request(.refresh, from: client("192.0.2.1", 1)) { $0.write(.lifetime, 0) }?.code == nil)
    #expect(kit.allocate(from: client("192.0.2.3", 1))?.code == nil)
  }

  @Test func `clients of one IPv6 network share its quota`() {
    var kit = ServerKit {
      $0.limits.allocationsPerNetwork = 1
      $0.relayIPs.append(IPAddress("2001:db8::1")!)
    }
    #expect(kit.allocate(from: ServerKit.route("2001:db8:5::1", 1))?.code == nil)
    #expect(kit.allocate(from: ServerKit.route("2001:db8:5::ffff", 1))?.code == 486)
    #expect(kit.allocate(from: ServerKit.route("2001:db8:5:1::1", 1))?.code == nil)
  }

  @Test func `an allocation for which there is no port is refused with 508`() {
    var kit = ServerKit()
    kit.hasPorts = false
    let answer = kit.allocate()
    #expect(answer?.code == 508 && answer?.isAuthentic == true)
    #expect(kit.server.counters.allocations == 0)
    kit.hasPorts = true
    #expect(kit.allocate()?.code == nil)
  }
}
