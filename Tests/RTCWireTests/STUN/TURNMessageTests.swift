import RTCPrimitives
import RTCWire
import Testing

@Suite struct TURNMessageTests {
  let id = STUNTransactionID(high: 0x78AD_3433, low: 0xC6AD_72C0_29DA_412E)

  private func written(
    _ class: STUNClass, _ method: STUNMethod, key: STUNIntegrityKey? = nil, hasFingerprint: Bool = false,
    _ body: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: 2_048)
    var span = bytes.mutableSpan
    var writer = STUNMessageWriter(
      `class`, method: method, transactionID: id, into: span._mutatingExtracting(0..<2_048))
    body(&writer)
    let count = writer.finish(key: key, hasFingerprint: hasFingerprint)
    return Array(bytes.prefix(count))
  }

  private func key(_ username: String, _ realm: String, _ password: String) -> STUNIntegrityKey {
    STUNIntegrityKey(
      username: Array(username.utf8).span, realm: Array(realm.utf8).span, password: Array(password.utf8).span)
  }

  @Test func `writes the long term request of RFC 5769`() {
    let bytes = written(.request, .binding, key: key("マトリックス", "example.org", "TheMatrIX")) { writer in
      writer.write(.username, Array("マトリックス".utf8).span)
      writer.write(.nonce, Array("f//499k954d6OL34oL9FSTvy64sA".utf8).span)
      writer.write(.realm, Array("example.org".utf8).span)
    }
    #expect(bytes == STUNVectorTests.longTermRequest)
  }

  @Test func `reads realm and nonce up to their limits`() throws {
    for (count, isRead) in [(0, true), (763, true), (764, false)] {
      let text = [UInt8](repeating: 0x61, count: count)
      let bytes = written(.error, .allocate) { writer in
        writer.write(.unauthenticated)
        writer.write(.realm, text.span)
      }
      let message = try STUNMessage(parsing: bytes.span)
      #expect((message.realm?.count == count) == isRead)
      #expect(message.nonce == nil && message.errorReason == nil)
    }
  }

  @Test func `reads the phrase of an error`() throws {
    let bytes = written(.error, .allocate) { writer in
      writer.write(.errorCode, ([0, 0, 4, 86] + Array("Allocation Quota Reached".utf8)).span)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.errorCode == .allocationQuotaReached && text(message.errorReason) == "Allocation Quota Reached")
  }

  @Test(arguments: ["192.0.2.7", "2001:db8::9"]) func `writes an allocation that reads back`(ip: String) throws {
    let relayed = SocketAddress(ip: IPAddress(ip)!, port: 49_152)
    let mapped = SocketAddress(ip: IPAddress("203.0.113.5")!, port: 7)
    let bytes = written(.success, .allocate, key: key("u", "r", "p"), hasFingerprint: true) { writer in
      writer.writeXorAddress(.xorRelayedAddress, relayed)
      writer.writeXorAddress(.xorRelayedAddress, mapped)
      writer.writeXorAddress(.xorRelayedAddress, mapped)
      writer.writeXorMappedAddress(mapped)
      writer.write(.lifetime, 600)
      writer.writeAddress(.alternateServer, relayed)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.header.method == .allocate && message.header.class == .success)
    #expect(message.xorRelayedAddresses == [relayed, mapped] && message.xorMappedAddress == mapped)
    #expect(message.lifetime == 600 && message.alternateServer == relayed)
    #expect(message.isAuthentic(key: key("u", "r", "p")) && !message.isAuthentic(key: key("u", "r", "q")))
    #expect(message.hasFingerprint && message.hasValidFingerprint)
  }

  @Test func `writes requests that read back`() throws {
    let peers = ["192.0.2.1", "192.0.2.2"].map { SocketAddress(ip: IPAddress($0)!, port: 0) }
    let bytes = written(.request, .channelBind) { writer in
      writer.write(.channelNumber, 0x4005_0000)
      for peer in peers { writer.writeXorAddress(.xorPeerAddress, peer) }
      writer.write(.requestedTransport, 17 << 24)
      writer.write(.requestedAddressFamily, TURNAddressFamily.v6)
      writer.write(.additionalAddressFamily, TURNAddressFamily.v4)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.channelNumber == 0x4005 && message.requestedTransport == 17)
    #expect(message.xorPeerAddresses == peers && message.xorPeerAddress == peers[0])
    #expect(message.requestedAddressFamily == .v6 && message.additionalAddressFamily == .v4)
    #expect(message.hasFingerprint == false && message.dataRange == nil)
  }

  @Test func `says where an indication's data lies`() throws {
    let bytes = written(.indication, .data) { writer in
      writer.writeXorAddress(.xorPeerAddress, SocketAddress(ip: IPAddress("192.0.2.1")!, port: 9))
      writer.write(.data, [1, 2, 3, 4, 5].span)
      writer.write(.data, [9].span)
    }
    let message = try STUNMessage(parsing: bytes.span)
    let range = message.dataRange
    #expect(range.map { Array(bytes[$0]) } == [1, 2, 3, 4, 5])
  }

  @Test func `reads the header of ChannelData`() {
    func header(_ bytes: [UInt8]) -> TURNChannelHeader? { parsing(bytes) { TURNChannelHeader(parsing: $0) } }
    #expect(header([0x40, 0, 0, 2, 8, 9]) == TURNChannelHeader(number: 0x4000, length: 2))
    #expect(header([0x4F, 0xFF, 0, 1, 8, 0, 0, 0]) == TURNChannelHeader(number: 0x4FFF, length: 1))
    #expect(TURNChannelHeader(number: 0x4FFF, length: 258).word == 0x4FFF_0102)
    for bytes in [[], [0x40, 0, 0], [0x40, 0, 0, 1], [0x3F, 0xFF, 0, 0], [0x50, 0, 0, 0]] as [[UInt8]] {
      #expect(header(bytes) == nil)
    }
  }
}
