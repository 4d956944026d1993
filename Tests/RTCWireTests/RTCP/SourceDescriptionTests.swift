import RTCPrimitives
import RTCWire
import Testing

@Suite struct SourceDescriptionTests {
  @Test func `a description of ffmpeg parses`() {
    let bytes = wireBytes("81ca0004c0e5d0b6010672746361737400000000")
    #expect(
      withFirstPacket(bytes) { SourceDescription(parsing: $0) }
        == SourceDescription(source: SSRC(0xC0E5_D0B6), canonicalName: "rtcast"))
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 254, 255]) func `a name of any length makes the round trip`(count: Int) {
    let description = SourceDescription(source: SSRC(7), canonicalName: String(repeating: "x", count: count))
    let bytes = writtenBytes { description.write(into: &$0) }
    #expect(bytes.count == description.size && bytes.last == 0)
    #expect(withFirstPacket(bytes) { SourceDescription(parsing: $0) } == description)
  }

  @Test func `other items and sources before the name are passed over`() {
    let bytes = wireBytes("82ca0006 00000001 02016100 00000002 0303626364 010178 00000000")
    #expect(
      withFirstPacket(bytes) { SourceDescription(parsing: $0) }
        == SourceDescription(source: SSRC(2), canonicalName: "x"))
  }

  @Test(arguments: [
    "80ca0000", "81ca0000", "81ca0001 00000001", "81ca0002 00000001 01ff6161", "81ca0002 00000001 61610161",
  ]) func `a description without a whole name is refused`(dump: String) {
    #expect(withFirstPacket(wireBytes(dump)) { SourceDescription(parsing: $0) } == nil)
  }

  @Test func `a name that is not UTF-8 is repaired within 255 bytes`() throws {
    let bytes = wireBytes("81ca0042 00000001 01ff" + String(repeating: "ff", count: 255) + "000000")
    let parsed = try #require(withFirstPacket(bytes) { SourceDescription(parsing: $0) })
    #expect(parsed.canonicalName.utf8.count == 255)
  }
}
