import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire
import Testing

/// Timers without any answer (RFC 9260 §6.3.3, §7.2.3, §8).
@Suite struct TimerTests {
  /// A pair 100 ms apart with a channel.
  private func connected() throws -> (pair: VirtualPair, near: DataChannelHandle) {
    let pair = VirtualPair(conditions: .delayed(.milliseconds(50)))
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    return (pair, near)
  }

  /// When packets leave until the association ends, and how many each time.
  private func departures(of pair: VirtualPair, for limit: TimeDelta) -> [(at: Timestamp, count: Int)] {
    var result: [(at: Timestamp, count: Int)] = []
    let end = pair.now + limit
    var before = pair.packetCount
    while pair.now < end, pair.events[.client]!.last != .ended(.timeout) {
      pair.run(for: .milliseconds(5))
      if pair.packetCount > before { result.append((pair.now, pair.packetCount - before)) }
      before = pair.packetCount
    }
    return result
  }

  @Test func `each timeout in a row doubles the next, to ten seconds, and then the peer is given up`() throws {
    let (pair, near) = try connected()
    pair.network.setConditions(.broken)
    try pair.send(.text("anybody?"), on: near, from: .client)
    // Half a minute after the last packet heartbeats begin, of both sides.
    let times = departures(of: pair, for: .seconds(28)).map(\.at)
    let waits = zip(times, times.dropFirst()).map { $1 - $0 }
    try #require(waits.count == 5)
    #expect((TimeDelta.milliseconds(600)...TimeDelta.milliseconds(900)).contains(waits[0]))
    for (wait, next) in zip(waits, waits.dropFirst()) {
      let expected = min(.seconds(10), wait * 2)
      #expect((expected - .milliseconds(10)...expected + .milliseconds(10)).contains(next))
    }
    pair.run(for: .seconds(120))
    #expect(pair.events[.client]!.last == .ended(.timeout))
  }

  @Test func `after a timeout one packet leaves, and slow start begins anew`() throws {
    let (pair, near) = try connected()
    for _ in 0..<60 { try pair.send(.binary([UInt8](repeating: 1, count: 262_144)), on: near, from: .client) }
    pair.run(for: .seconds(1))
    pair.network.setConditions(.broken)
    pair.run(for: .milliseconds(200))
    let inDark = departures(of: pair, for: .seconds(2))
    #expect(inDark.count >= 2 && inDark.allSatisfy { $0.count == 1 })
    pair.network.setConditions(.delayed(.milliseconds(50)))
    let flights = departures(of: pair, for: .milliseconds(3_000))
    // The first is again a single packet; the window doubles by the round trip after that.
    #expect(flights.first?.count == 1)
    pair.run(for: .seconds(60))
    let far = pair.incoming(at: .server)[0].handle
    #expect(pair.messages(on: far, at: .server).count == 60)
  }

  @Test func `no call lets more than a burst leave, also when much is acknowledged at once`() throws {
    var conditions = NetworkConditions.delayed(.milliseconds(50))
    conditions.loss = 0.02
    conditions.jitter = .milliseconds(60)
    let pair = VirtualPair(seed: 2, conditions: conditions)
    pair.keepsPackets = false
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(3))
    for _ in 0..<40 { try pair.send(.binary([UInt8](repeating: 1, count: 262_144)), on: near, from: .client) }
    for second in 0..<60 {
      // Acknowledgements that are held up come all at once.
      pair.network[.bToA].loss = second % 3 == 0 ? 0.9 : 0.02
      pair.run(for: .seconds(1))
    }
    pair.network[.bToA].loss = 0
    pair.run(for: .seconds(300), until: { pair.bufferedAmount(of: near, on: .client) == 0 })
    #expect(pair.bufferedAmount(of: near, on: .client) == 0)
    // Ten of data, and an acknowledgement that found no room in them.
    #expect((10...11).contains(pair.largestBurst))
  }

  @Test func `who has nothing to say asks after half a minute whether the other is there`() throws {
    let (pair, _) = try connected()
    let before = pair.packets.count
    pair.run(for: .seconds(26))
    #expect(pair.packets.count == before)
    pair.run(for: .seconds(5))
    var kinds: Set<SCTPChunkType> = []
    for bytes in pair.packets[before...] {
      guard let packet = SCTPPacket(parsing: bytes.span) else { continue }
      var chunks = packet.chunks
      if let first = chunks.next()?.type { kinds.insert(first) }
    }
    #expect(kinds == [.heartbeat, .heartbeatAck])
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(300))
    for side in VirtualPair.Side.allCases { #expect(pair.events[side]!.last == .ended(.timeout)) }
  }
}
