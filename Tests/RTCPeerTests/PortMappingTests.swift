import RTCPrimitives
import RTCTestKit
import Testing

import RTCPeer

/// A router in virtual time, by the tables of RFC 6886 and RFC 6887; written apart from the messages that it tests.
private struct RouterDouble {
  enum Kind { case silent, natPMPOnly, pcp, both }

  var kind: Kind
  var result: UInt8 = 0
  var lifetime: UInt32 = 3_600
  var address: [UInt8] = [198, 51, 100, 7]
  var externalPort: UInt16 = 6_000
  var started = Timestamp.zero
  var seen: [[UInt8]] = []

  private func epoch(_ now: Timestamp) -> [UInt8] { Self.bytes(UInt32((now - started).seconds)) }

  static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

  mutating func answer(_ request: [UInt8], _ now: Timestamp) -> [UInt8]? {
    seen.append(request)
    let port = [UInt8(externalPort >> 8), UInt8(externalPort & 255)]
    switch (request[0], kind) {
    case (_, .silent), (0, .pcp): return nil
    case (2, .natPMPOnly): return [0, 128, 0, 1] + epoch(now) + [0, 0, 0, 0]
    case (2, _):
      #expect(request.count == 60 && request[1] == 1)
      let granted = Array(request[4..<8]) == [0, 0, 0, 0] ? 0 : lifetime
      return [2, 0x81, 0, result] + Self.bytes(granted) + epoch(now) + [UInt8](repeating: 0, count: 12)
        + request[24..<42] + port + [UInt8](repeating: 0, count: 10) + [255, 255] + address
    default:
      if request == [0, 0] { return [0, 128, 0, result] + epoch(now) + address }
      #expect(request.count == 12)
      return [0, request[1] | 128, 0, result] + epoch(now) + request[4..<6] + port
        + (Array(request[8...]) == [0, 0, 0, 0] ? [0, 0, 0, 0] : Self.bytes(lifetime))
    }
  }
}

@Suite struct PortMappingTests {
  private static let udp = WantedMapping(.udp, 5_000)
  private static let outside = SocketAddress(ip: IPAddress("198.51.100.7")!, port: 6_000)

  private struct World {
    var router: RouterDouble
    var client: PortMappingClient
    var now = Timestamp(nanoseconds: 1_000_000_000_000)
    var events: [PortMappingClient.Event] = []

    init(_ kind: RouterDouble.Kind, _ wanted: [WantedMapping] = [PortMappingTests.udp]) {
      router = RouterDouble(kind: kind)
      var random = SeededGenerator(seed: 1)
      client = PortMappingClient(wanted, client: 0x0A01_0002, now: now, random: &random)
    }

    mutating func run(for time: TimeDelta) {
      let end = now + time
      while client.nextDeadline <= end {
        now = max(now, client.nextDeadline)
        let (requests, told) = client.poll(now)
        events += told
        for request in requests {
          if let answer = router.answer(request, now) { events += client.receive(answer.span, now: now) }
        }
      }
      now = end
    }
  }

  @Test(arguments: [RouterDouble.Kind.pcp, .natPMPOnly, .both])
  private func `a port is mapped in a second, and kept`(kind: RouterDouble.Kind) {
    var world = World(kind)
    world.run(for: .seconds(1))
    #expect(world.events == [.mapped(Self.udp, Self.outside)])
    world.run(for: .seconds(7_200))
    #expect(world.events.count == 1, "it is renewed without a word")
    // Each five minutes, so that another address is noticed.
    #expect((20...60).contains(world.router.seen.count))
    world.router.address = [198, 51, 100, 8]
    world.run(for: .seconds(300))
    #expect(world.events.last == .mapped(Self.udp, SocketAddress(ip: IPAddress("198.51.100.8")!, port: 6_000)))
    for end in world.client.ends() {
      let lifetime = end[0] == 2 ? end[4..<8] : end[8..<12]
      #expect(lifetime.allSatisfy { $0 == 0 })
      if end[0] == 0 { #expect(end[6] == 0 && end[7] == 0) }
    }
    #expect(world.client.ends().count == 1)
  }

  @Test func `UDP and TCP are mapped beside each other`() {
    let tcp = WantedMapping(.tcp, 5_000)
    var world = World(.both, [Self.udp, tcp])
    world.run(for: .seconds(1))
    #expect(Set(world.events) == [.mapped(Self.udp, Self.outside), .mapped(tcp, Self.outside)])
  }

  @Test func `a silent router is said to be silent, once, and asked on`() {
    var world = World(.silent)
    world.run(for: .seconds(10))
    #expect(world.events == [.failed(Self.udp, .silent)])
    world.run(for: .seconds(600))
    #expect(world.events.count == 1)
    #expect(world.router.seen.count < 40, "at last once a minute")
    #expect(world.router.seen.contains { $0[0] == 2 } && world.router.seen.contains { $0[0] == 0 })
    world.router.kind = .both
    world.run(for: .seconds(70))
    #expect(world.events.last == .mapped(Self.udp, Self.outside))
  }

  @Test(
    arguments: [(2, .refused), (8, .exhausted), (12, .nested), (7, .noNetwork), (6, .other(6))]
      as [(UInt8, PortMappingClient.Failure)])
  func `a refusal has its reason, and is asked again later`(result: UInt8, failure: PortMappingClient.Failure) {
    var world = World(.pcp)
    world.router.result = result
    world.run(for: .seconds(10))
    #expect(world.events == [.failed(Self.udp, failure)])
    let requests = world.router.seen.count
    world.run(for: .seconds(200))
    #expect(world.router.seen.count == requests)
    world.router.result = 0
    world.run(for: .seconds(200))
    #expect(world.events.last == .mapped(Self.udp, Self.outside))
  }

  @Test func `a router that starts again is asked for all mappings at once`() throws {
    var world = World(.pcp, [Self.udp, WantedMapping(.tcp, 5_000)])
    world.run(for: .seconds(1_000))
    #expect(world.client.nextDeadline > world.now)
    world.router.started = world.now
    // The answer for one of them shows that the router counts from zero again.
    let request = try #require(world.router.seen.last { $0[36] == 17 })
    let reply = world.router.answer(request, world.now)
    let answer = try #require(reply)
    let events = world.client.receive(answer.span, now: world.now)
    #expect(events.isEmpty)
    #expect(world.client.nextDeadline <= world.now)
    world.router.externalPort = 7_000
    world.run(for: .seconds(1))
    let outside = SocketAddress(ip: Self.outside.ip, port: 7_000)
    #expect(world.events.last == .mapped(WantedMapping(.tcp, 5_000), outside))
  }

  @Test func `a mapping whose router is gone ends with its lifetime`() {
    var world = World(.both)
    world.router.lifetime = 120
    world.run(for: .seconds(1))
    world.router.kind = .silent
    world.run(for: .seconds(60))
    #expect(world.events.count == 1)
    world.run(for: .seconds(60))
    #expect(world.events.last == .failed(Self.udp, .silent))
  }

  @Test func `other datagrams than answers to its own requests change nothing`() {
    var world = World(.silent)
    world.run(for: .seconds(1))
    var answers: [[UInt8]] = []
    var router = RouterDouble(kind: .both)
    for request in world.router.seen { if let answer = router.answer(request, world.now) { answers.append(answer) } }
    var random = SeededGenerator(seed: 2)
    for round in 0..<20_000 {
      var bytes = answers[round % answers.count]
      // Without its nonce, or cut: nothing may be taken from it, and nothing may end the program.
      if bytes[0] == 2 { bytes[24 + round % 12] ^= UInt8.random(in: 1...255, using: &random) }
      bytes.removeLast(Int.random(in: bytes[0] == 2 ? 0...bytes.count : 5...bytes.count, using: &random))
      var client = world.client
      let events = client.receive(bytes.span, now: world.now)
      #expect(!events.contains { if case .mapped = $0 { true } else { false } }, "\(bytes)")
    }
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...70, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      var client = world.client
      _ = client.receive(bytes.span, now: world.now)
      _ = client.poll(world.now + .seconds(10_000))
    }
  }

  @Test func `the default route with the lowest metric counts`() {
    let table = """
      Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
      wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
      eth0\t00000000\t0100010A\t0003\t0\t0\t100\t00000000\t0\t0\t0
      eth0\t0000010A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
      tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000000\t0\t0\t0
      """
    #expect(DefaultRoute.gateway(in: table) == 0x0A01_0001)
    for text in ["", "Iface", "Iface\nx", "Iface\neth0 zz 1 3 0 0 0 0"] {
      #expect(DefaultRoute.gateway(in: text) == nil)
    }
  }
}
