import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct InterleavingTests {
  private static var slow: NetworkConditions {
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.rate = BitRate(bitsPerSecond: 1_000_000)
    return conditions
  }

  /// When a small message arrives that is sent just after a large one on another channel: 256 KiB take two seconds.
  private func arrival(interleaves: Bool) throws -> TimeDelta {
    var options = DataChannelOptions()
    options.interleavesMessages = interleaves
    let pair = VirtualPair(conditions: Self.slow, options: options)
    pair.start()
    let large = try pair.open(DataChannelParameters(), on: .client)
    let small = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    let start = pair.now
    try pair.send(.binary([UInt8](repeating: 1, count: 262_144)), on: large, from: .client)
    pair.run(for: .milliseconds(100))
    try pair.send(.text("small"), on: small, from: .client)
    let far = pair.incoming(at: .server)[1].handle
    pair.run(for: .seconds(20), until: { !pair.messages(on: far, at: .server).isEmpty })
    let time = pair.now - start
    pair.run(for: .seconds(20))
    #expect(pair.messages(on: pair.incoming(at: .server)[0].handle, at: .server).first?.size == 262_144)
    return time
  }

  @Test func `a small message is not held up by a large one`() throws {
    #expect(try arrival(interleaves: true) < .seconds(1))
    // Without it there is no other way than to wait.
    #expect(try arrival(interleaves: false) > .seconds(2))
  }

  @Test func `large messages that all begin at once do not fill the receive buffer with beginnings`() throws {
    var options = DataChannelOptions()
    options.receiveBuffer = 400_000
    let pair = VirtualPair(options: options)
    pair.start()
    let channels = try (0..<16).map { _ in try pair.open(DataChannelParameters(isOrdered: false), on: .client) }
    pair.run(for: .seconds(1))
    let message = DataChannelMessage.binary([UInt8](repeating: 9, count: 200_000))
    for channel in channels { try pair.send(message, on: channel, from: .client) }
    pair.run(for: .seconds(60))
    #expect(pair.incoming(at: .server).allSatisfy { pair.messages(on: $0.handle, at: .server) == [message] })
  }
}
