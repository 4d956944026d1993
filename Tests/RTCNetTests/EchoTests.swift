import RTCNet
import RTCPrimitives
import Testing

@Suite struct EchoTests {
  @Test(arguments: loopbackAddresses)
  func `datagrams come back changed in place, with the two ends of their route exchanged`(ip: IPAddress) throws {
    let near = try LoopFixture()
    let far = try LoopFixture(echoes: true)
    let sent = (1...100).flatMap { numbered(1, size: $0 * 14, to: near.route(to: far, ip)) }
    near.send(sent)
    let back = near.inbox.wait(for: 100)
    #expect(back.map(\.bytes) == sent.map { $0.bytes.map(~) })
    #expect(back.allSatisfy { $0.route == near.route(to: far, ip) })
    let seen = Route(local: far.address(ip), remote: near.address(ip))
    #expect(far.inbox.all.allSatisfy { $0.route == seen })
  }

  @Test func `ten thousand random datagrams are delivered or counted`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let route = near.route(to: far, .loopbackV4)
    var random = SplitMix(state: 7)
    var expected: [[UInt8]] = []
    for _ in 0..<100 {
      var round: [Datagram] = []
      for _ in 0..<99 {
        let size = Int.random(in: 1...1500, using: &random)
        round.append(Datagram(bytes: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }, route: route))
      }
      expected += round.map(\.bytes)
      round.append(Datagram(bytes: [UInt8](repeating: 9, count: 3000), route: route))  // longer than a slot
      near.send(round)
      _ = far.inbox.wait(for: 99)
    }
    #expect(far.inbox.all.map(\.bytes) == expected)
    near.send(numbered(1, size: 1, to: route))
    _ = far.inbox.wait(for: 1)
    let counters = far.counters
    #expect(counters.receivedDatagrams == 9_901)
    #expect(counters.malformedDatagrams == 100)
    #expect(counters.receiveQueueDrops == 0)
  }

  @Test func `an empty datagram is counted and not delivered`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let route = near.route(to: far, .loopbackV4)
    try #require(sendEmptyDatagram(to: far.loop.port))
    near.send(numbered(1, size: 1, to: route))
    #expect(far.inbox.wait(for: 1).count == 1)
    #expect(far.counters.malformedDatagrams == 1)
  }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}
