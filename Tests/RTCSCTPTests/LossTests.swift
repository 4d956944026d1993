import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct LossTests {
  @Test(arguments: [0.0, 0.05, 0.2, 0.3])
  func `a reliable channel delivers everything in order through loss and reordering`(loss: Double) throws {
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.loss = loss
    conditions.jitter = .milliseconds(15)
    conditions.reorders = true
    let pair = VirtualPair(seed: 7, conditions: conditions)
    pair.start()
    let channel = try pair.open(DataChannelParameters(label: "file"), on: .client)
    pair.run(until: { !pair.incoming(at: .server).isEmpty })
    let far = try #require(pair.incoming(at: .server).first?.handle)
    var sent: [DataChannelMessage] = []
    for i in 0..<100 { sent.append(.binary([UInt8](repeating: UInt8(i), count: 1 + i * 97))) }
    for message in sent { try pair.send(message, on: channel, from: .client) }
    pair.run(for: .seconds(600), until: { pair.messages(on: far, at: .server).count == sent.count })
    #expect(pair.messages(on: far, at: .server) == sent)
  }

  @Test(arguments: [0.0, 0.2, 0.3]) func `a message of the agreed maximum arrives whole`(loss: Double) throws {
    var conditions = NetworkConditions.delayed(.milliseconds(5))
    conditions.loss = loss
    let pair = VirtualPair(seed: 3, conditions: conditions)
    pair.start()
    let channel = try pair.open(DataChannelParameters(), on: .client)
    pair.run(until: { !pair.incoming(at: .server).isEmpty })
    let far = try #require(pair.incoming(at: .server).first?.handle)
    let bytes = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    try pair.send(.binary(bytes), on: channel, from: .client)
    try pair.send(.binary(bytes.reversed()), on: far, from: .server)
    pair.run(
      for: .seconds(600),
      until: { !pair.messages(on: far, at: .server).isEmpty && !pair.messages(on: channel, at: .client).isEmpty })
    #expect(pair.messages(on: far, at: .server) == [.binary(bytes)])
    #expect(pair.messages(on: channel, at: .client) == [.binary(bytes.reversed())])
    #expect(throws: DataChannelError.messageTooLong(limit: 262_144)) {
      try pair.send(.binary(bytes + [0]), on: channel, from: .client)
    }
  }

  @Test func `the same seed gives the same packets`() throws {
    func trace() throws -> [UInt8] {
      var conditions = NetworkConditions.delayed(.milliseconds(20))
      conditions.loss = 0.1
      let pair = VirtualPair(seed: 5, conditions: conditions)
      pair.start()
      let channel = try pair.open(DataChannelParameters(), on: .client)
      pair.run(until: { pair.state(of: channel, on: .client) == .open })
      for i in 0..<20 { try pair.send(.binary([UInt8](repeating: UInt8(i), count: 3000)), on: channel, from: .client) }
      pair.run(for: .seconds(20))
      return pair.trace
    }
    let first = try trace()
    #expect(first.count > 60_000)
    #expect(try trace() == first)
  }
}
