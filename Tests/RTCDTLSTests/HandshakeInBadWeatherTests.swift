import RTCDTLS
import RTCPrimitives
import Testing

@Suite struct HandshakeInBadWeatherTests {
  @Test(arguments: [0.1, 0.2, 0.3]) func `connects despite loss`(_ loss: Double) throws {
    for seed in 1...25 as ClosedRange<UInt64> {
      let pair = try makePair(weather: Weather(loss: loss, seed: seed))
      pair.run()
      try expectConnected(pair, "loss \(loss), seed \(seed)")
    }
  }

  @Test func `connects despite loss reordering and duplication of small datagrams`() throws {
    for seed in 1...25 as ClosedRange<UInt64> {
      let weather = Weather(loss: 0.1, duplication: 0.3, jitter: .milliseconds(60), seed: seed)
      let pair = try makePair(maximumDatagramSize: 300, weather: weather)
      pair.run()
      try expectConnected(pair, "seed \(seed)")
    }
  }

  @Test func `waits twice as long each time and gives up`() throws {
    let pair = try makePair(weather: Weather(loss: 1))
    pair.run()
    #expect(pair.events[.client] == [.failed(.timeout)])
    #expect(pair.events[.server] == [])
    #expect(pair.client.nextDeadline == .distantFuture)
    // 50, 100, 200, 400, 800 and 1,600 ms, then every 3 s.
    #expect(pair.now > .zero + .milliseconds(15_000) && pair.now < .zero + .milliseconds(40_000))
  }

  @Test func `the first repetition comes after fifty milliseconds`() throws {
    let pair = try makePair(weather: Weather(loss: 1))
    pair.run(limit: .milliseconds(49))
    #expect(pair.datagramSizes.count == 1)
    #expect(pair.client.nextDeadline == .zero + .milliseconds(50))
    pair.settle(limit: .milliseconds(51))
    #expect(pair.datagramSizes.count == 2)
    #expect(pair.client.nextDeadline == .zero + .milliseconds(150))
  }

  @Test func `garbage is ignored`() throws {
    var random = SplitMix64(state: 7)
    let pair = try makePair()
    for round in 0..<3 {
      for _ in 0..<200 {
        var bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        if !bytes.isEmpty, round > 0 { bytes[0] = UInt8.random(in: 20...63, using: &random) }
        pair.deliver(bytes, to: .client)
        pair.deliver(bytes, to: .server)
      }
      if round == 1 { pair.run() }
    }
    try expectConnected(pair, "after garbage")
  }

  @Test func `the same datagram twice connects once`() throws {
    let pair = try makePair(weather: Weather(duplication: 1))
    pair.run()
    try expectConnected(pair, "all twice")
    #expect(pair.events[.client]!.count == 1 && pair.events[.server]!.count == 1)
  }

  private func expectConnected(_ pair: VirtualPair, _ comment: String) throws {
    let client = try #require(pair.keys(.client), "client: \(comment) \(pair.events)")
    let server = try #require(pair.keys(.server), "server: \(comment) \(pair.events)")
    #expect(client.local == server.remote && client.remote == server.local)
  }
}
