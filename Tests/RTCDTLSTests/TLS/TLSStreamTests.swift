import RTCDTLS
import Testing

/// Valid and invalid bytes of a stream.
@Suite struct TLSStreamTests {
  private static let protocolVersion: UInt8 = 70

  private func connected(pieceSize: Int = .max) throws -> TLSPair {
    let pair = try TLSPair.make()
    pair.run(pieceSize: pieceSize)
    #expect(pair.clientEvents == [.connected] && pair.serverEvents == [.connected])
    return pair
  }

  @Test(arguments: [1, 7, Int.max]) func `data arrives whole and in order, in whatever pieces`(pieceSize: Int) throws {
    let pair = try connected(pieceSize: pieceSize)
    let (request, answer) = (Array("GET / HTTP/1.1".utf8), (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    pair.client.send(request.span)
    pair.server.send(answer.span)
    pair.run(pieceSize: pieceSize)
    #expect(pair.serverEvents.data == request)
    #expect(pair.clientEvents.data == answer)
    #expect(pair.clientEvents.failure == nil)
  }

  @Test func `a goodbye is answered, and what follows it is nothing`() throws {
    let pair = try connected()
    pair.client.send(Array("last".utf8).span)
    pair.client.close()
    pair.run()
    #expect(pair.serverEvents == [.connected, .data(Array("last".utf8)), .closedByPeer])
    #expect(pair.server.endOfInput().isEmpty && pair.client.endOfInput().isEmpty)
    #expect(pair.server.receive(Array("more".utf8).span).isEmpty)
    #expect(!pair.server.isConnected && !pair.client.isConnected)
  }

  @Test func `whoever has said goodbye for its own side still hears`() throws {
    let pair = try connected()
    pair.client.closeOutput()
    #expect(!pair.client.isConnected)
    pair.server.send(Array("rest".utf8).span)
    let rest = pair.server.takeOutput()
    #expect(pair.client.receive(rest.span).data == Array("rest".utf8))
    #expect(pair.client.endOfInput() == [.failed(.truncated)])
  }

  @Test func `an end without a goodbye is a failure`() throws {
    let pair = try connected()
    pair.server.send(Array("half of".utf8).span)
    pair.run()
    #expect(pair.clientEvents.data == Array("half of".utf8))
    #expect(pair.client.endOfInput() == [.failed(.truncated)])
    #expect(pair.client.endOfInput().isEmpty)
    let early = try TLSPair.make()
    #expect(early.client.start().isEmpty)
    #expect(early.client.endOfInput() == [.failed(.endedInHandshake)])
  }

  @Test func `a changed byte ends the connection before any of it is read`() throws {
    let pair = try connected()
    pair.client.send(Array("pay 1 to alice".utf8).span)
    var record = pair.client.takeOutput()
    record[record.count - 20] ^= 1
    let events = pair.server.receive(record.span)
    #expect(events.data.isEmpty)
    guard case .protocolViolation = events.failure else { return #expect(events.isEmpty) }
    #expect(!pair.server.takeOutput().isEmpty)  // the alert that says so
    #expect(pair.server.receive(record.span).isEmpty)
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
  ]) func `plain text is told from TLS by both ends`(text: String) throws {
    let pair = try TLSPair.make()
    _ = pair.client.start()
    #expect(pair.client.receive(Array(text.utf8).span) == [.failed(.notTLS)])
    #expect(pair.server.receive(Array(text.utf8).span).failure != nil)
  }

  @Test func `whatever comes in place of a handshake ends it, or waits for more`() throws {
    var generator = SplitMix64(state: 1)
    for _ in 0..<2_000 {
      let pair = try TLSPair.make()
      _ = pair.client.start()
      let count = Int.random(in: 1...600, using: &generator)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Most get past the first look at the record.
      if Bool.random(using: &generator) { bytes = [22, 3, 3, UInt8(count >> 8), UInt8(count & 255)] + bytes }
      for end in [pair.client, pair.server] {
        let events = end.receive(bytes.span)
        #expect(events.allSatisfy { if case .failed = $0 { true } else { false } })
        #expect(!end.isConnected)
      }
    }
  }

  @Test func `a handshake with any byte changed does not connect to anybody else`() throws {
    let pair = try TLSPair.make()
    _ = pair.client.start()
    let hello = pair.client.takeOutput()
    for index in stride(from: 0, to: hello.count, by: 11) {
      let other = try TLSPair.make()
      _ = other.client.start()
      var bytes = other.client.takeOutput()
      bytes[index] ^= 0x40
      _ = other.server.receive(bytes.span)
      let events = other.client.receive(other.server.takeOutput().span)
      #expect(!events.contains(.connected), "byte \(index)")
    }
  }

  /// A client's first message of TLS 1.1 (RFC 4346).
  @Test func `versions before 1.2 are refused`() throws {
    let body: [UInt8] =
      [3, 2] + [UInt8](repeating: 7, count: 32) + [0] + [0, 4, 0xC0, 0x09, 0xC0, 0x13] + [1, 0]
      + [0, 8, 0, 10, 0, 4, 0, 2, 0, 23]
    let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
    let server = try TLSSession(try TLSPair.server(chain: [TLSFixtures.good]))
    let events = server.receive(([22, 3, 1, 0, UInt8(message.count)] + message).span)
    guard case .protocolViolation = events.failure else { return #expect(events.isEmpty) }
    #expect(server.takeOutput().suffix(2) == [2, Self.protocolVersion])
  }

  @Test func `a thousand connections leave nothing behind`() throws {
    let server = try TLSPair.server(chain: [TLSFixtures.good, TLSFixtures.intermediate])
    let client = try TLSPair.withFile(TLSFixtures.root) { try TLSContext(trusting: .file($0)) }
    func connect() throws {
      let pair = TLSPair(
        client: try TLSSession(client, to: .name("good.example")), server: try TLSSession(server))
      pair.run()
      #expect(pair.client.isConnected)
      pair.client.close()
      pair.run()
    }
    for _ in 0..<200 { try connect() }
    let before = try residentBytes()
    for _ in 0..<1_000 { try connect() }
    #expect(try residentBytes() - before < 10 << 20)
  }
}
