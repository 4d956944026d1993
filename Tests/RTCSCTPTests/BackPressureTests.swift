import RTCPrimitives
import RTCSCTP
import Testing

@Suite struct BackPressureTests {
  @Test func `a receiver that rests holds its peer back, and nothing is lost`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    let far = pair.incoming(at: .server)[0].handle
    pair.setReceiving(false, on: .server)
    for i in 0..<100 { try pair.send(.binary([UInt8](repeating: UInt8(i), count: 100_000)), on: near, from: .client) }
    pair.run(for: .seconds(60))
    #expect(pair.messages(on: far, at: .server).isEmpty)
    #expect(pair.bufferedAmount(of: near, on: .client) > 8_000_000)
    pair.setReceiving(true, on: .server)
    pair.run(for: .seconds(120), until: { pair.messages(on: far, at: .server).count == 100 })
    #expect(pair.messages(on: far, at: .server).map(\.size) == [Int](repeating: 100_000, count: 100))
  }

  @Test func `every change of what waits is told`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    for _ in 0..<10 { try pair.send(.binary([UInt8](repeating: 1, count: 200_000)), on: near, from: .client) }
    let told = {
      pair.events[.client]!.compactMap { if case .bufferedAmountChanged(near, let n) = $0 { n } else { nil } }
    }
    #expect(told().last == pair.bufferedAmount(of: near, on: .client))
    pair.run(for: .seconds(30))
    #expect(told().last == 0)
  }
}
