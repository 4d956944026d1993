import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct HostilePeerTests {
  @Test func `a message longer than allowed closes its channel and no other`() throws {
    var small = DataChannelOptions()
    small.maximumMessageSize = 10_000
    let pair = VirtualPair(serverOptions: small)
    pair.start(serverTakes: 262_144)  // the client is lied to
    let bad = try pair.open(DataChannelParameters(), on: .client)
    let good = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    try pair.send(.binary([UInt8](repeating: 1, count: 200_000)), on: bad, from: .client)
    try pair.send(.text("fine"), on: good, from: .client)
    pair.run(for: .seconds(10))
    let far = pair.incoming(at: .server).map(\.handle)
    #expect(pair.messages(on: far[0], at: .server).isEmpty)
    #expect(pair.messages(on: far[1], at: .server) == [.text("fine")])
    #expect(pair.events[.client]!.contains(.closed(bad)))
    #expect(pair.state(of: good, on: .client) == .open)
    #expect(pair.violations(on: .server) > 0)
  }

  @Test func `labels may not fill the memory`() throws {
    var options = DataChannelOptions()
    options.maximumNameBytes = 200_000
    let pair = VirtualPair(options: options)
    pair.start()
    let label = String(repeating: "x", count: 60_000)
    for _ in 0..<10 { _ = try pair.open(DataChannelParameters(label: label), on: .client) }
    pair.run(for: .seconds(30))
    #expect(pair.incoming(at: .server).count == 3)
    #expect(pair.violations(on: .server) == 7)
    #expect(pair.events[.client]!.filter { if case .closed = $0 { true } else { false } }.count == 7)
  }

  @Test func `noise is passed over`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    var random = SeededGenerator(seed: 4)
    for _ in 0..<2000 {
      let count = Int(random.next() % 200)
      pair.inject((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }, to: .server)
    }
    try pair.send(.text("unmoved"), on: near, from: .client)
    pair.run(for: .seconds(1))
    #expect(pair.messages(on: pair.incoming(at: .server)[0].handle, at: .server) == [.text("unmoved")])
  }
}
