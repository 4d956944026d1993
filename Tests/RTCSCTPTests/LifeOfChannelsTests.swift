import RTCTestKit
import RTCPrimitives
import RTCSCTP
import Testing

@Suite struct LifeOfChannelsTests {
  @Test func `the DTLS client takes even streams, the server odd ones`() throws {
    let pair = VirtualPair()
    let before = try pair.open(DataChannelParameters(label: "before the start"), on: .client)
    #expect(pair.state(of: before, on: .client) == .connecting && pair.stream(of: before, on: .client) == nil)
    pair.start()
    pair.run(for: .seconds(1))
    let second = try pair.open(DataChannelParameters(), on: .client)
    let third = try pair.open(DataChannelParameters(), on: .server)
    #expect([before, second].map { pair.stream(of: $0, on: .client) } == [0, 2])
    #expect(pair.stream(of: third, on: .server) == 1)
    pair.run(for: .seconds(1))
    #expect(pair.incoming(at: .server).map { pair.stream(of: $0.handle, on: .server) } == [0, 2])
    #expect(pair.incoming(at: .client).map { pair.stream(of: $0.handle, on: .client) } == [1])
  }

  @Test func `negotiated channels need no word between the sides`() throws {
    let pair = VirtualPair()
    let parameters = DataChannelParameters(negotiatedStream: StreamID(100))
    let near = try pair.open(parameters, on: .client)
    let far = try pair.open(parameters, on: .server)
    #expect(throws: DataChannelError.noStream) { _ = try pair.open(parameters, on: .client) }
    #expect(throws: DataChannelError.noStream) {
      _ = try pair.open(DataChannelParameters(negotiatedStream: StreamID(60_000)), on: .client)
    }
    pair.start()
    pair.run(for: .seconds(1))
    try pair.send(.text("hello"), on: near, from: .client)
    pair.run(for: .seconds(1))
    #expect(pair.messages(on: far, at: .server) == [.text("hello")])
    #expect(pair.incoming(at: .server).isEmpty)
  }

  @Test(arguments: [VirtualPair.Side.client, .server])
  func `closing sends what waits, tells the other side, and frees the stream`(closer: VirtualPair.Side) throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    let far = try #require(pair.incoming(at: .server).first?.handle)
    let closing = closer == .client ? near : far
    let (closed, other) = closer == .client ? (far, VirtualPair.Side.server) : (near, .client)
    for _ in 0..<20 { try pair.send(.binary([UInt8](repeating: 1, count: 100_000)), on: closing, from: closer) }
    try pair.close(closing, on: closer)
    #expect(pair.state(of: closing, on: closer) == .closing)
    #expect(throws: DataChannelError.notOpen) { try pair.send(.text("late"), on: closing, from: closer) }
    pair.run(for: .seconds(30))
    #expect(pair.messages(on: closed, at: other).count == 20)
    #expect(pair.events[other]!.contains(.closing(closed)) && pair.events[other]!.contains(.closed(closed)))
    #expect(pair.events[closer]!.contains(.closed(closing)))
    let again = try pair.open(DataChannelParameters(label: "again"), on: .client)
    #expect(pair.stream(of: again, on: .client) == 0)
    pair.run(for: .seconds(1))
    #expect(pair.incoming(at: .server).last?.parameters.label == "again")
    try pair.send(.text("works"), on: again, from: .client)
    pair.run(for: .seconds(1))
    #expect(pair.messages(on: pair.incoming(at: .server).last!.handle, at: .server) == [.text("works")])
  }

  @Test func `many channels close at once and both sides may close the same`() throws {
    let pair = VirtualPair()
    pair.start()
    let channels = try (0..<200).map { _ in try pair.open(DataChannelParameters(), on: .client) }
    pair.run(for: .seconds(2))
    let far = pair.incoming(at: .server).map(\.handle)
    #expect(far.count == 200)
    for channel in channels { try pair.close(channel, on: .client) }
    for channel in far { try pair.close(channel, on: .server) }
    pair.run(for: .seconds(30))
    #expect(channels.allSatisfy { pair.events[.client]!.contains(.closed($0)) })
    #expect(far.allSatisfy { pair.events[.server]!.contains(.closed($0)) })
  }

  @Test func `closing the transport ends every channel on both sides`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    pair.closeAll(.client)
    pair.run(for: .seconds(1))
    #expect(pair.events[.client]!.suffix(2) == [.closed(near), .ended(.closedHere)])
    #expect(pair.events[.server]!.last == .ended(.closedByPeer))
    #expect(throws: DataChannelError.ended) { _ = try pair.open(DataChannelParameters(), on: .client) }
  }

  @Test(arguments: [0.0, 0.3]) func `an end in good order sends what waits first`(loss: Double) throws {
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.loss = loss
    let pair = VirtualPair(seed: 6, conditions: conditions)
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(60), until: { !pair.incoming(at: .server).isEmpty })
    let far = try #require(pair.incoming(at: .server).first?.handle)
    pair.run(for: .seconds(5))
    for _ in 0..<10 { try pair.send(.binary([UInt8](repeating: 1, count: 30_000)), on: near, from: .client) }
    pair.shutDown(.client)
    #expect(throws: DataChannelError.notOpen) { try pair.send(.text("late"), on: near, from: .client) }
    pair.run(for: .seconds(300))
    #expect(pair.messages(on: far, at: .server).count == 10)
    #expect(pair.events[.client]!.last == .ended(.closedHere))
    #expect(pair.events[.server]!.last == .ended(.closedByPeer))
  }

  @Test func `both may end in good order at once`() throws {
    let pair = VirtualPair()
    pair.start()
    pair.run(for: .seconds(1))
    pair.shutDown(.client)
    pair.shutDown(.server)
    pair.run(for: .seconds(10))
    for side in VirtualPair.Side.allCases { #expect(pair.events[side]!.last == .ended(.closedHere)) }
  }

  @Test func `a peer that vanishes is noticed`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    pair.network.setConditions(.broken)
    try pair.send(.text("anybody?"), on: near, from: .client)
    pair.run(for: .seconds(300), until: { pair.events[.client]!.last == .ended(.timeout) })
    #expect(pair.events[.client]!.last == .ended(.timeout))
  }
}
