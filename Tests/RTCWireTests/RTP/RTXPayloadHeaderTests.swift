import RTCPrimitives
import RTCWire
import Testing

@Suite struct RTXPayloadHeaderTests {
  @Test func `a retransmission of aiortc gives the original number and payload`() throws {
    let packet = wireBytes(
      "90e10005fffffff000000063 bede0004 14766964656f2215846c409e31123400 ffff 68656c6c6f")
    let header = try #require(parsing(packet, RTPHeader.init(parsing:)))
    let rtx = try #require(parsing(Array(packet[header.payload]), RTXPayloadHeader.init(parsing:)))
    #expect(rtx.originalSequenceNumber == SequenceNumber(0xFFFF))
    #expect(packet[(header.payload.lowerBound + RTXPayloadHeader.size)...] == Array("hello".utf8)[...])
    #expect(writtenBytes { rtx.write(into: &$0) } == [0xFF, 0xFF])
  }

  @Test func `a payload of padding only is no retransmission`() {
    #expect(parsing([0x12], RTXPayloadHeader.init(parsing:)) == nil)
  }
}
