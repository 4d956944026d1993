import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

/// How fast, and how soon, in virtual time.
@Suite struct CongestionTests {
  /// Bytes a second that a reliable channel carries in 20 seconds of a steady sender.
  private func goodput(_ conditions: NetworkConditions, seed: UInt64) throws -> Int {
    let pair = VirtualPair(seed: seed, conditions: conditions)
    pair.keepsPackets = false
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(2))
    let far = try #require(pair.incoming(at: .server).first).handle
    let message = DataChannelMessage.binary([UInt8](repeating: 5, count: 65_536))
    let end = pair.now + .seconds(20)
    while pair.now < end {
      while pair.bufferedAmount(of: near, on: .client) < 1 << 20 { try pair.send(message, on: near, from: .client) }
      pair.run(for: .milliseconds(20))
    }
    return pair.messages(on: far, at: .server).count * 65_536 / 20
  }

  private func conditions(loss: Double = 0, jitter: Int64 = 0) -> NetworkConditions {
    var conditions = NetworkConditions.delayed(.milliseconds(25))
    conditions.loss = loss
    conditions.jitter = .milliseconds(jitter)
    conditions.reorders = jitter > 0
    return conditions
  }

  @Test func `a clear way of 50 ms is filled`() throws {
    #expect(try goodput(conditions(), seed: 1) > 12_000_000)
  }

  // With one packet of a hundred lost a window that halves carries 1.22 packets √100 in 50 ms (RFC 3819 §9): 276 kB/s.
  @Test(arguments: [UInt64(1), 2, 3]) func `one lost packet of a hundred costs no more than halving the window must`(
    seed: UInt64
  ) throws {
    #expect(try goodput(conditions(loss: 0.01), seed: seed) > 260_000)
  }

  @Test func `one lost packet of ten leaves more than a timeout a window would`() throws {
    #expect(try goodput(conditions(loss: 0.1), seed: 1) > 70_000)
  }

  @Test func `packets that overtake each other are not taken for lost`() throws {
    #expect(try goodput(conditions(jitter: 10), seed: 1) > 10_000_000)
  }

  @Test func `the rate of a narrow way is kept`() throws {
    var narrow = conditions()
    narrow.rate = BitRate(bitsPerSecond: 2_000_000)
    #expect(try goodput(narrow, seed: 1) > 200_000)
  }

  @Test func `after a rest no more leaves at once than a beginning may`() throws {
    let pair = VirtualPair(conditions: .delayed(.milliseconds(50)))
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    // So that the window is wide.
    for _ in 0..<8 { try pair.send(.binary([UInt8](repeating: 1, count: 262_144)), on: near, from: .client) }
    pair.run(for: .seconds(20))
    let before = pair.packetCount
    for _ in 0..<4 { try pair.send(.binary([UInt8](repeating: 1, count: 262_144)), on: near, from: .client) }
    #expect(pair.packetCount - before == 10)
  }

  @Test func `a lost end of a message does not wait for the timeout`() throws {
    let pair = VirtualPair(conditions: .delayed(.milliseconds(50)))
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(2))
    let far = pair.incoming(at: .server)[0].handle
    let start = pair.now
    try pair.send(.binary([UInt8](repeating: 1, count: 5_000)), on: near, from: .client)
    pair.network[.aToB].loss = 1
    try pair.send(.text("end"), on: near, from: .client)
    pair.network[.aToB].loss = 0
    pair.run(for: .seconds(5), until: { pair.messages(on: far, at: .server).count == 2 })
    // The timeout is 320 ms at least after the first acknowledgement.
    #expect(pair.now - start < .milliseconds(400))
  }

  @Test func `a retransmission that is lost again does not wait for the timeout`() throws {
    let pair = VirtualPair(conditions: .delayed(.milliseconds(50)))
    pair.start()
    let near = try pair.open(DataChannelParameters(isOrdered: false), on: .client)
    pair.run(for: .seconds(2))
    let far = pair.incoming(at: .server)[0].handle
    let start = pair.now
    pair.network[.aToB].loss = 1
    try pair.send(.text("unlucky"), on: near, from: .client)
    pair.network[.aToB].loss = 0
    // The first three say that it is missing; what is sent again at their acknowledgement, 100 ms on, is lost too.
    for i in 0..<40 {
      if i == 10 { pair.network[.aToB].loss = 1 }
      if i == 12 { pair.network[.aToB].loss = 0 }
      try pair.send(.text("\(i)"), on: near, from: .client)
      pair.run(for: .milliseconds(10))
    }
    let arrived = pair.events[.server]!.contains(.message(far, .text("unlucky")))
    #expect(arrived && pair.now - start == .milliseconds(400))
  }
}
