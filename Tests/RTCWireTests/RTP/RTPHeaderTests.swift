import RTCPrimitives
import RTCWire
import Testing

@Suite struct RTPHeaderTests {
  @Test func `a packet of ffmpeg parses`() throws {
    let packet = wireBytes("80e00c5d dbd2f079 c0e5d0b6 80808000 0cfc1b52")
    let header = try #require(parsing(packet, RTPHeader.init(parsing:)))
    #expect(header.marker)
    #expect(header.payloadType == PayloadType(96))
    #expect(header.sequenceNumber == SequenceNumber(0x0C5D))
    #expect(header.timestamp == RTPTimestamp(0xDBD2_F079))
    #expect(header.ssrc == SSRC(0xC0E5_D0B6))
    #expect(header.extensionProfile == nil && header.extensions.isEmpty)
    #expect(header.payload == 12..<20)
  }

  @Test func `a packet of aiortc with extensions and padding parses`() throws {
    let packet = wireBytes(
      "b0e0fffffffffff011223344 bede0004 14766964656f 2215846c 409e 311234 00 68656c6c6f 9e13e11996d707")
    let header = try #require(parsing(packet, RTPHeader.init(parsing:)))
    #expect(header.extensionProfile == 0xBEDE)
    #expect(header.extensions == 16..<32)
    #expect(packet[header.payload] == Array("hello".utf8)[...])
  }

  @Test func `contributing sources are skipped`() throws {
    let packet = wireBytes("82600001 00000002 00000003 aaaaaaaa bbbbbbbb 01")
    #expect(try #require(parsing(packet, RTPHeader.init(parsing:))).payload == 20..<21)
  }

  @Test func `a packet of padding only has an empty payload`() throws {
    let packet = wireBytes("a0600001 00000002 00000003 00000004")
    #expect(try #require(parsing(packet, RTPHeader.init(parsing:))).payload == 12..<12)
  }

  @Test(arguments: [
    "", "80", "80600001 00000002 000000", "40600001 00000002 00000003", "81600001 00000002 00000003 aaaaaa",
    "90600001 00000002 00000003 bede00", "90600001 00000002 00000003 bedeffff 00000000",
    "a0600001 00000002 00000003 00", "a0600001 00000002 00000003 0003", "a0600001 00000002 00000003",
  ]) func `hostile lengths are refused`(dump: String) {
    #expect(parsing(wireBytes(dump), RTPHeader.init(parsing:)) == nil)
  }
}
