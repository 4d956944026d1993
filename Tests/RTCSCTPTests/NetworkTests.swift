import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire
import Testing

/// Messages over networks with loss, repetition, reordering and a long delay.
@Suite struct NetworkTests {
  private static func bad(_ loss: Double) -> NetworkConditions {
    var conditions = NetworkConditions.delayed(.milliseconds(150))
    conditions.loss = loss
    conditions.jitter = .milliseconds(30)
    conditions.reorders = true
    conditions.duplication = 0.05
    return conditions
  }

  private struct Ends {
    var near: DataChannelHandle
    var far: DataChannelHandle
  }

  private func connected(_ parameters: DataChannelParameters, on pair: VirtualPair) throws -> Ends {
    pair.start()
    let near = try pair.open(parameters, on: .client)
    pair.run(for: .seconds(120), until: { !pair.incoming(at: .server).isEmpty })
    let far = try #require(pair.incoming(at: .server).first).handle
    pair.run(for: .seconds(2))
    return Ends(near: near, far: far)
  }

  private static func messages(_ count: Int, _ seed: UInt8) -> [DataChannelMessage] {
    (0..<count).map { i in
      .binary([UInt8(i), seed] + [UInt8](repeating: UInt8(truncatingIfNeeded: i &* 7), count: i * i * 29 % 9_000))
    }
  }

  @Test(arguments: [0.0, 0.1, 0.3], [true, false])
  func `reliable messages arrive once each, both ways, a third of a second apart`(
    loss: Double, isOrdered: Bool
  ) throws {
    let pair = VirtualPair(seed: 21, conditions: Self.bad(loss))
    let ends = try connected(DataChannelParameters(isOrdered: isOrdered), on: pair)
    let (there, back) = (Self.messages(60, 1), Self.messages(60, 2))
    for i in there.indices {
      try pair.send(there[i], on: ends.near, from: .client)
      try pair.send(back[i], on: ends.far, from: .server)
    }
    pair.run(
      for: .seconds(900),
      until: {
        pair.messages(on: ends.far, at: .server).count == 60 && pair.messages(on: ends.near, at: .client).count == 60
      })
    pair.run(for: .seconds(5))
    let arrived = [pair.messages(on: ends.far, at: .server), pair.messages(on: ends.near, at: .client)]
    if isOrdered {
      #expect(arrived == [there, back])
    } else {
      #expect(arrived.map(\.count) == [60, 60] && arrived.map(Set.init) == [Set(there), Set(back)])
    }
  }

  @Test(
    arguments: [DataChannelReliability.maximumRetransmissions(0), .maximumRetransmissions(1), .maximumLifetime(400)],
    [true, false]) func `what is given up is skipped, and nothing else is`(
      reliability: DataChannelReliability, isOrdered: Bool
    ) throws
  {
    // FORWARD TSN, or I-FORWARD-TSN (RFC 8260 §2.3.1).
    for interleaves in [false, true] {
      try checkGivingUp(reliability, isOrdered: isOrdered, interleaves: interleaves)
    }
  }

  private func checkGivingUp(_ reliability: DataChannelReliability, isOrdered: Bool, interleaves: Bool) throws {
    var options = DataChannelOptions()
    options.interleavesMessages = interleaves
    let pair = VirtualPair(seed: 5, conditions: Self.bad(0.2), options: options)
    let ends = try connected(
      DataChannelParameters(isOrdered: isOrdered, reliability: reliability), on: pair)
    let sent = Self.messages(80, 3)
    for message in sent {
      try pair.send(message, on: ends.near, from: .client)
      pair.run(for: .milliseconds(70))
    }
    pair.run(for: .seconds(20))
    let arrived = pair.messages(on: ends.far, at: .server)
    #expect((10..<80).contains(arrived.count))
    #expect(Set(arrived).count == arrived.count && Set(arrived).isSubset(of: Set(sent)))
    if isOrdered { #expect(arrived == sent.filter { arrived.contains($0) }) }
    // Nothing is left that holds up what comes later.
    pair.network.setConditions(.delayed(.milliseconds(20)))
    try pair.send(.text("later"), on: ends.near, from: .client)
    pair.run(for: .seconds(20))
    #expect(pair.messages(on: ends.far, at: .server).last == .text("later"))
    #expect(pair.bufferedAmount(of: ends.near, on: .client) == 0)
  }

  @Test func `a message whose time is over when half of it has arrived is dropped on both sides`() throws {
    var slow = NetworkConditions.delayed(.milliseconds(20))
    slow.rate = BitRate(bitsPerSecond: 200_000)
    let pair = VirtualPair(conditions: slow)
    let ends = try connected(DataChannelParameters(reliability: .maximumLifetime(500)), on: pair)
    try pair.send(.binary([UInt8](repeating: 1, count: 200_000)), on: ends.near, from: .client)
    pair.run(for: .seconds(30))
    #expect(pair.bufferedAmount(of: ends.near, on: .client) == 0)
    for i in 0..<50 { try pair.send(.text("\(i)"), on: ends.near, from: .client) }
    pair.run(for: .seconds(10))
    #expect(pair.messages(on: ends.far, at: .server) == (0..<50).map { .text("\($0)") })
  }

  @Test func `streams are used again and again, through losses`() throws {
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.loss = 0.2
    let pair = VirtualPair(seed: 4, conditions: conditions)
    pair.start()
    for round in 0..<30 {
      let channel = try pair.open(DataChannelParameters(label: "\(round)"), on: .client)
      for i in 0..<3 where pair.state(of: channel, on: .client) == .open {
        try pair.send(.text("\(round).\(i)"), on: channel, from: .client)
      }
      pair.run(for: .seconds(60), until: { pair.incoming(at: .server).count == round + 1 })
      let far = try #require(pair.incoming(at: .server).last)
      #expect(far.parameters.label == "\(round)")
      pair.run(for: .seconds(60), until: { pair.messages(on: far.handle, at: .server).count == (round == 0 ? 0 : 3) })
      if round > 0 { #expect(pair.stream(of: channel, on: .client) == 0) }
      try pair.close(channel, on: .client)
      pair.run(
        for: .seconds(120),
        until: {
          pair.events[.client]!.contains(.closed(channel)) && pair.events[.server]!.contains(.closed(far.handle))
        })
      #expect(pair.events[.server]!.contains(.closed(far.handle)))
    }
  }
}
