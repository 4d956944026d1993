import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct PartialReliabilityTests {
  private func connected(
    _ parameters: DataChannelParameters, on pair: VirtualPair
  ) throws -> (near: DataChannelHandle, far: DataChannelHandle) {
    pair.start()
    let near = try pair.open(parameters, on: .client)
    pair.run(until: { !pair.incoming(at: .server).isEmpty })
    let far = try #require(pair.incoming(at: .server).first)
    #expect(far.parameters == parameters)
    pair.run(for: .seconds(1))
    return (near, far.handle)
  }

  @Test func `without retransmissions lost messages stay lost, and the rest is not held up`() throws {
    let pair = VirtualPair(seed: 9)
    let (near, far) = try connected(
      DataChannelParameters(isOrdered: false, reliability: .maximumRetransmissions(0)), on: pair)
    pair.network[.aToB].loss = 0.3
    for i in 0..<100 {
      try pair.send(.binary([UInt8(i)]), on: near, from: .client)
      pair.run(for: .milliseconds(50))
    }
    pair.network[.aToB].loss = 0
    pair.run(for: .seconds(5))
    let arrived = pair.messages(on: far, at: .server)
    #expect((50..<95).contains(arrived.count))
    #expect(Set(arrived).count == arrived.count)
    try pair.send(.text("still there"), on: near, from: .client)
    pair.run(for: .seconds(5))
    #expect(pair.messages(on: far, at: .server).last == .text("still there"))
  }

  @Test func `messages older than their lifetime are given up, in virtual time`() throws {
    let pair = VirtualPair(seed: 9)
    let (near, far) = try connected(DataChannelParameters(reliability: .maximumLifetime(300)), on: pair)
    pair.network.setConditions(.broken)
    try pair.send(.text("stale"), on: near, from: .client)
    pair.run(for: .milliseconds(700))
    pair.network.setConditions(.delayed(.milliseconds(10)))
    try pair.send(.text("fresh"), on: near, from: .client)
    pair.run(for: .seconds(10))
    #expect(pair.messages(on: far, at: .server) == [.text("fresh")])
  }

  @Test func `an unordered message overtakes a lost one, an ordered one waits`() throws {
    for isOrdered in [false, true] {
      let pair = VirtualPair(seed: 2)
      let (near, far) = try connected(DataChannelParameters(isOrdered: isOrdered), on: pair)
      pair.network[.aToB].loss = 1
      try pair.send(.text("first"), on: near, from: .client)
      pair.network[.aToB].loss = 0
      try pair.send(.text("second"), on: near, from: .client)
      pair.run(for: .milliseconds(15))
      #expect(pair.messages(on: far, at: .server) == (isOrdered ? [] : [.text("second")]))
      pair.run(for: .seconds(10))
      let order: [DataChannelMessage] = [.text("first"), .text("second")]
      #expect(pair.messages(on: far, at: .server) == (isOrdered ? order : order.reversed()))
    }
  }
}
