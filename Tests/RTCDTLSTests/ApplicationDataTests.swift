import RTCDTLS
import RTCPrimitives
import Testing

@Suite struct ApplicationDataTests {
  @Test func `messages of all sizes arrive whole`() throws {
    let pair = try makePair()
    pair.run()
    pair.events = [.client: [], .server: []]
    let messages = [1, 2, 100, pair.client.maximumMessageSize].map { [UInt8](repeating: UInt8($0 & 0xFF), count: $0) }
    for message in messages {
      try pair.send(message, from: .client)
      try pair.send(message, from: .server)
      pair.settle()
    }
    #expect(pair.events[.server] == messages.map { .data($0) })
    #expect(pair.events[.client] == messages.map { .data($0) })
    #expect(pair.datagramSizes.max()! <= 1200)
  }

  @Test func `a replayed message is delivered once`() throws {
    let pair = try makePair(weather: Weather(duplication: 1))
    pair.run()
    try pair.send([9], from: .client)
    pair.settle()
    #expect(pair.events[.server]!.filter { $0 == .data([9]) }.count == 1)
  }

  @Test func `sending too early too much or too late is refused`() throws {
    let pair = try makePair()
    #expect(throws: DTLSSendError.notConnected) { try pair.send([1], from: .client) }
    pair.run()
    let long = [UInt8](repeating: 0, count: pair.client.maximumMessageSize + 1)
    #expect(throws: DTLSSendError.tooLong) { try pair.send(long, from: .client) }
    pair.close(.client)
    #expect(throws: DTLSSendError.notConnected) { try pair.send([1], from: .client) }
  }
}
