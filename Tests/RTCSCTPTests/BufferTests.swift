import RTCPrimitives
import RTCSCTP
import Testing

@Suite struct BufferTests {
  @Test func `what waits is counted, and its end is announced once`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    pair.setLowThreshold(500_000, of: near, on: .client)
    for _ in 0..<20 { try pair.send(.binary([UInt8](repeating: 1, count: 100_000)), on: near, from: .client) }
    #expect((1_000_000...2_000_000).contains(pair.bufferedAmount(of: near, on: .client)))
    #expect(!pair.events[.client]!.contains(.bufferedAmountLow(near)))
    pair.run(for: .seconds(30))
    #expect(pair.bufferedAmount(of: near, on: .client) == 0)
    #expect(pair.events[.client]!.filter { $0 == .bufferedAmountLow(near) }.count == 1)
  }

  @Test func `a full buffer is the caller's to wait for`() throws {
    var options = DataChannelOptions()
    options.maximumBufferedAmount = 300_000
    let pair = VirtualPair(options: options)
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    #expect(throws: DataChannelError.bufferFull) {
      for _ in 0..<20 { try pair.send(.binary([UInt8](repeating: 1, count: 100_000)), on: near, from: .client) }
    }
    pair.run(for: .seconds(10))
    try pair.send(.text("room again"), on: near, from: .client)
  }

  @Test func `priorities share the way in proportion`() throws {
    let pair = VirtualPair()
    pair.start()
    let low = try pair.open(DataChannelParameters(priority: 128), on: .client)
    let high = try pair.open(DataChannelParameters(priority: 1024), on: .client)
    pair.run(for: .seconds(1))
    let block = [UInt8](repeating: 1, count: 20_000)
    for _ in 0..<200 {
      try pair.send(.binary(block), on: low, from: .client)
      try pair.send(.binary(block), on: high, from: .client)
    }
    pair.run(for: .seconds(60), until: { pair.bufferedAmount(of: high, on: .client) == 0 })
    #expect(pair.bufferedAmount(of: low, on: .client) > 2_000_000)
  }
}
