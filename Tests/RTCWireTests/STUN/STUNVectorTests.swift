import RTCPrimitives
import RTCWire
import Testing

/// RFC 5769 §2.
@Suite struct STUNVectorTests {
  static let request = stunBytes(
    hex: """
      00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74
      00240004 6e0001ff 80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020
      00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249 c1b571a2 80280004 e57a3bcf
      """)
  static let responseV4 = stunBytes(
    hex: """
      0101003c 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220
      00200008 0001a147 e112a643 00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96
      """)
  static let responseV6 = stunBytes(
    hex: """
      01010048 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220
      00200014 0002a147 0113a9fa a5d3f179 bc25f4b5 bed2b9d9
      00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41 80280004 c8fb0b4c
      """)
  static let longTermRequest = stunBytes(
    hex: """
      00010060 2112a442 78ad3433 c6ad72c0 29da412e 00060012 e3839ee3 8388e383 aae38383 e382afe3 82b90000
      0015001c 662f2f34 39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341
      0014000b 6578616d 706c652e 6f726700 00080014 f6702465 6dd64a3e 02b8e071 2e85c9a2 8ca89666
      """)
  let key = STUNIntegrityKey(password: "VOkJxbRl1RmTxUk/WvJxBt")

  @Test func `reads the sample request`() throws {
    let message = try STUNMessage(parsing: Self.request.span)
    #expect(message.header.class == .request && message.header.method == .binding)
    #expect("\(message.header.transactionID)" == "b7e7a701bc34d686fa87dfae")
    #expect(text(message.software) == "STUN test client")
    #expect(message.priority == 0x6E00_01FF)
    #expect(message.iceRole == .controlled(tieBreaker: 0x932F_F9B1_5126_3B36))
    #expect(text(message.username) == "evtj:h6vY")
    #expect(text(message.receiverFragment) == "evtj" && text(message.senderFragment) == "h6vY")
    #expect(message.unknownRequiredAttributes.isEmpty && !message.nominates)
    #expect(message.isAuthentic(key: key) && message.hasValidFingerprint)
    #expect(message.isAuthentic(key: STUNIntegrityKey(password: "VOkJxbRl1RmTxUk/WvJxBu")) == false)
  }

  @Test func `reads the sample responses`() throws {
    let v4 = try STUNMessage(parsing: Self.responseV4.span)
    #expect(v4.header.class == .success)
    #expect(v4.xorMappedAddress == SocketAddress(ip: IPAddress("192.0.2.1")!, port: 32853))
    #expect(v4.isAuthentic(key: key) && v4.hasValidFingerprint)
    let v6 = try STUNMessage(parsing: Self.responseV6.span)
    #expect(v6.xorMappedAddress == SocketAddress(ip: IPAddress("2001:db8:1234:5678:11:2233:4455:6677")!, port: 32853))
    #expect(v6.isAuthentic(key: key) && v6.hasValidFingerprint)
  }

  @Test func `reads the long term request`() throws {
    // MD5("マトリックス:example.org:TheMatrIX")
    let longTermKey = stunBytes(hex: "e8ca7ad59d5eb0518e312911d2dab2a9")
    let message = try STUNMessage(parsing: Self.longTermRequest.span)
    #expect(text(message.username) == "マトリックス")
    #expect(text(message.value(of: .realm)) == "example.org")
    #expect(text(message.value(of: .nonce)) == "f//499k954d6OL34oL9FSTvy64sA")
    #expect(message.isAuthentic(key: STUNIntegrityKey(longTermKey.span)) && !message.hasValidFingerprint)
  }

  @Test func `refuses the sample request cut anywhere`() {
    for count in 0..<Self.request.count {
      #expect(throws: STUNParseError.self) { _ = try parse(Array(Self.request.prefix(count))) }
    }
  }

  @Test func `notices every flipped bit`() throws {
    for i in Self.request.indices {
      for bit in 0..<8 {
        var bytes = Self.request
        bytes[i] ^= 1 << bit
        guard let message = try? STUNMessage(parsing: bytes.span) else { continue }
        #expect(!(message.isAuthentic(key: key) && message.hasValidFingerprint), "byte \(i) bit \(bit)")
      }
    }
  }

  private func parse(_ bytes: [UInt8]) throws -> Int { try STUNMessage(parsing: bytes.span).bytes.count }
}

func text(_ span: Span<UInt8>?) -> String? {
  guard let span else { return nil }
  return String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
}
