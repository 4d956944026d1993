import RTCPrimitives
import RTCWire
import Testing

@Suite struct STUNMessageTests {
  let id = STUNTransactionID(high: 0x0102_0304, low: 0x0506_0708_090A_0B0C)
  let key = STUNIntegrityKey(password: "0123456789012345678901")

  private func written(
    _ class: STUNClass, key: STUNIntegrityKey?, _ body: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: 512)
    var span = bytes.mutableSpan
    var writer = STUNMessageWriter(`class`, transactionID: id, into: span._mutatingExtracting(0..<512))
    body(&writer)
    let count = writer.finish(key: key)
    return Array(bytes.prefix(count))
  }

  @Test func `writes a check that reads back`() throws {
    let bytes = written(.request, key: key) { writer in
      writer.write(.username, Array("remote:local".utf8).span)
      writer.write(.controlling(tieBreaker: 77))
      writer.write(.priority, 1_853_824_767)
      writer.write(.useCandidate)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.header.transactionID == id && message.header.class == .request)
    #expect(text(message.receiverFragment) == "remote" && text(message.senderFragment) == "local")
    #expect(message.iceRole == .controlling(tieBreaker: 77))
    #expect(message.priority == 1_853_824_767 && message.nominates)
    #expect(message.isAuthentic(key: key) && message.hasValidFingerprint)
    #expect(STUNMessage.isLikely(bytes.span) == true)
  }

  @Test(arguments: ["192.0.2.7", "2001:db8::9"]) func `writes addresses that read back`(ip: String) throws {
    let address = SocketAddress(ip: IPAddress(ip)!, port: 61_000)
    let bytes = written(.success, key: key) { writer in
      writer.writeXorMappedAddress(address)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.xorMappedAddress == address)
  }

  @Test func `reads the address that old servers send`() throws {
    // RFC 8489 §14.1: MAPPED-ADDRESS, 192.0.2.7:61000, in a success response without integrity.
    let bytes = wireBytes("0101000c2112a442 000102030405060708090a0b 00010008 0001ee48 c0000207")
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.mappedAddress == SocketAddress(ip: IPAddress("192.0.2.7")!, port: 61_000))
    #expect(message.xorMappedAddress == nil)
  }

  @Test func `writes errors that read back`() throws {
    let types: [STUNAttributeType] = [STUNAttributeType(0x7001), STUNAttributeType(0x7002), STUNAttributeType(0x7003)]
    let bytes = written(.error, key: nil) { writer in
      writer.write(.unknownAttribute)
      writer.writeUnknownAttributes(types)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.header.class == .error && message.errorCode == .unknownAttribute)
    #expect(message.unknownAttributes == types)
    #expect(!message.hasMessageIntegrity && !message.isAuthentic(key: key) && message.hasValidFingerprint)
  }

  @Test(arguments: [0, 1, 0x7F, 0x80, 0xABC, 0xFFF] as [UInt16]) func `headers of all classes read back`(method: UInt16)
    throws
  {
    for kind in [STUNClass.request, .indication, .success, .error] {
      let header = STUNHeader(class: kind, method: STUNMethod(method), length: 0, transactionID: id)
      var bytes = [UInt8](repeating: 0, count: STUNHeader.size)
      var span = bytes.mutableSpan
      var writer = ByteWriter(span._mutatingExtracting(0..<STUNHeader.size))
      header.write(into: &writer)
      var reader = ByteReader(bytes.span)
      #expect(try STUNHeader(parsing: &reader) == header)
      #expect(bytes[0] < 0x40)
    }
  }

  @Test func `names required attributes it does not know`() throws {
    let bytes = written(.request, key: key) { writer in
      writer.write(STUNAttributeType(0x7ABC), [1].span)
      writer.write(STUNAttributeType(0xC001), [1, 2].span)
      writer.write(STUNAttributeType(0x7ABC), [1, 2, 3].span)
    }
    let message = try STUNMessage(parsing: bytes.span)
    #expect(message.unknownRequiredAttributes == [STUNAttributeType(0x7ABC)])
    #expect(message.isAuthentic(key: key) == true)
  }

  @Test func `passes over attributes that integrity does not cover`() throws {
    let bytes = written(.request, key: key) { $0.write(.priority, 5) }
    // Another PRIORITY and USE-CANDIDATE between MESSAGE-INTEGRITY and the end.
    var forged = Array(bytes.dropLast(8)) + [0x00, 0x25, 0x00, 0x00]
    forged[3] = UInt8(forged.count - STUNHeader.size)
    let message = try STUNMessage(parsing: forged.span)
    #expect(message.isAuthentic(key: key) && !message.nominates && message.priority == 5)
    #expect(message.hasValidFingerprint == false)
  }

  @Test func `refuses what is not whole STUN`() {
    let good = written(.request, key: key) { $0.write(.priority, 5) }
    func failure(_ change: (inout [UInt8]) -> Void) -> STUNParseError? {
      var bytes = good
      change(&bytes)
      do throws(STUNParseError) {
        _ = try STUNMessage(parsing: bytes.span)
        return nil
      } catch { return error }
    }
    #expect(failure { $0[0] = 0x80 } == .notStun)
    #expect(failure { $0[4] = 0 } == .notStun)
    #expect(failure { $0.append(0) } == .badLength)
    #expect(failure { $0[3] += 1 } == .badLength)
    #expect(failure { $0[23] = 200 } == .badAttribute)
    #expect(
      failure { bytes in  // an attribute after FINGERPRINT
        bytes += [0x80, 0x22, 0, 0]
        bytes[3] += 4
      } == .badAttribute)
    #expect(failure { _ in } == nil)
  }

  @Test func `survives random bytes`() {
    var random = SeededGenerator(seed: 1)
    let good = written(.request, key: key) { writer in
      writer.write(.username, Array("remote:local".utf8).span)
      writer.write(.priority, 5)
    }
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int(random.next() % 6) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 0xFF)
      }
      if random.next() & 3 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
      guard let message = try? STUNMessage(parsing: bytes.span) else { continue }
      _ = (
        message.priority, message.iceRole, message.errorCode, message.xorMappedAddress,
        message.unknownRequiredAttributes
      )
      _ = message.hasValidFingerprint
      if let sender = message.senderFragment { #expect(sender.count < 512) }
    }
  }
}
