import RTCPrimitives
import RTCWire
import Testing

@Suite struct AV1PayloadTests {
  private func number(_ dump: String) -> (value: UInt32, size: Int)? {
    let bytes = wireBytes(dump)
    var reader = ByteReader(bytes.span)
    guard let value = reader.readLEB128() else { return nil }
    return (value, reader.offset)
  }

  private func elements(_ dump: String) -> [[UInt8]]? {
    let bytes = wireBytes(dump)
    guard var payload = AV1Payload(parsing: bytes.span) else { return nil }
    var result: [[UInt8]] = []
    while let element = payload.next(in: bytes.span) { result.append(Array(bytes[element])) }
    #expect(result.count == payload.count)
    return result
  }

  @Test func `numbers of variable length make the round trip`() {
    for value in [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 21, 1 << 28, .max] as [UInt32] {
      let bytes = writtenBytes { $0.writeLEB128(value) }
      var reader = ByteReader(bytes.span)
      let again = reader.readLEB128()
      let isAtEnd = reader.isAtEnd
      #expect(again == value && isAtEnd)
    }
    #expect(writtenBytes { $0.writeLEB128(300) } == wireBytes("ac02"))
    #expect(number("ac8200")?.value == 300 && number("ac8200")?.size == 3)
    #expect(number("8080808080808000")?.size == 8)
  }

  @Test(arguments: ["", "80", "ffffffffff", "808080808080808000", "ffffffff1f"])
  func `numbers cut off or too large are refused`(dump: String) { #expect(number(dump) == nil) }

  @Test func `unit headers of libaom parse and come out again`() throws {
    for (dump, kind) in [("12", AV1OBUHeader.Kind.temporalDelimiter), ("0a", .sequenceHeader), ("32", .frame)] {
      let bytes = wireBytes(dump)
      var reader = ByteReader(bytes.span)
      let parsed = AV1OBUHeader(parsing: &reader)
      let header = try #require(parsed)
      #expect(header == AV1OBUHeader(kind: kind, hasSize: true))
      #expect(writtenBytes { header.write(into: &$0) } == bytes)
    }
    let layered = AV1OBUHeader(kind: .frame, layers: 0x48)
    #expect(writtenBytes { layered.write(into: &$0) } == wireBytes("3448") && layered.size == 2)
  }

  @Test(arguments: ["", "92", "34", "36", "32", "3205 01"]) func `units cut off or forbidden are refused`(dump: String)
  {
    let bytes = wireBytes(dump)
    #expect(AV1OBU(in: bytes.span, at: 0) == nil)
    #expect(AV1OBU(in: bytes.span, at: bytes.count) == nil)
  }

  @Test func `the aggregation header is one byte`() throws {
    let header = AV1AggregationHeader(continuesUnit: true, isContinued: true, elements: 2, startsSequence: false)
    #expect(header.byte == 0xE0 && AV1AggregationHeader(0xE0) == header)
    #expect(AV1AggregationHeader(0x18)?.startsSequence == true && AV1AggregationHeader(0x08)?.elements == nil)
    #expect(AV1AggregationHeader(0x88) == nil)
  }

  @Test func `elements have lengths, but the last of a known number`() {
    #expect(elements("10 320102") == [wireBytes("320102")])
    #expect(elements("20 02 0a01 3203") == [wireBytes("0a01"), wireBytes("3203")])
    #expect(elements("30 01 0a 01 0b 32") == [[0x0A], [0x0B], [0x32]])
    #expect(elements("00 02 0a01 01 32") == [wireBytes("0a01"), [0x32]])
  }

  @Test(arguments: ["", "10", "00", "00 02 0a", "20 05 0a", "20 02 0a01", "30 01 0a 01 0b", "00 80", "98 0a"])
  func `lengths that contradict the payload are refused`(dump: String) { #expect(elements(dump) == nil) }

  @Test func `fragments become units with sizes again`() {
    var assembly = AV1Depacketizer()
    for dump in ["78 01 10 02 0801 3007", "d0 08", "90 09"] {
      assembly.append(wireBytes(dump).span)
    }
    // The delimiter is left out.
    #expect(assembly.data == wireBytes("0a 01 01 32 03 070809"))
    assembly.append(wireBytes("90 32").span)  // goes on where nothing began
    assembly.append(wireBytes("00 80").span)  // malformed
    #expect(assembly.data.count <= 10)
  }

  /// Payloads of one frame unit with `count` bytes of data, cut after every 1,000, and the unit as decoders take it.
  private func fragments(of count: Int) -> (payloads: [[UInt8]], unit: [UInt8]) {
    let data = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let unit = [0x30] + data
    let cuts = Array(stride(from: 0, to: unit.count, by: 1_000))
    let payloads = cuts.map { start -> [UInt8] in
      let end = min(unit.count, start + 1_000)
      let header = AV1AggregationHeader(
        continuesUnit: start > 0, isContinued: end < unit.count, elements: 1, startsSequence: false)
      return [header.byte] + unit[start..<end]
    }
    return (payloads, [0x32] + writtenBytes { $0.writeLEB128(UInt32(count)) } + data)
  }

  @Test(arguments: [1, 126, 127, 128, 1_000, 16_382, 16_383, 16_384, 40_000])
  func `a unit gets its size, whatever was expected to follow`(count: Int) {
    let (payloads, unit) = fragments(of: count)
    let total = payloads.reduce(0) { $0 + $1.count }
    for expected in [0, total, total + 1, 3_000_000] {
      var assembly = AV1Depacketizer(payloadSize: expected, packets: payloads.count)
      assembly.append(wireBytes("10 0801").span)
      for payload in payloads { assembly.append(payload.span) }
      assembly.append(wireBytes("10 3007").span)
      #expect(assembly.data == wireBytes("0a 01 01") + unit + wireBytes("32 01 07"))
    }
  }

  @Test func `a unit that brings its own size keeps it, in as few bytes as can be`() {
    var assembly = AV1Depacketizer()
    for dump in ["50 32", "d0 83 80", "90 00 070809 ffff"] { assembly.append(wireBytes(dump).span) }
    #expect(assembly.data == wireBytes("32 03 070809"))
  }

  @Test func `a unit whose end is lost is left out`() {
    var assembly = AV1Depacketizer()
    assembly.append(wireBytes("50 3007").span)
    #expect(assembly.data.isEmpty)
    assembly.append(wireBytes("10 3008").span)
    #expect(assembly.data == wireBytes("32 01 08"))
  }
}
