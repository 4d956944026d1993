import RTCPrimitives
import RTCWire
import Testing

@Suite struct FlexFECHeaderTests {
  private func header(_ distances: [Int]) -> FlexFECHeader {
    var mask = FECMask()
    for distance in distances { mask.insert(distance) }
    var fields = FECRecoveryFields()
    (fields.flags, fields.markerAndType, fields.length, fields.timestamp) = (0x12, 0xE0, 0x0123, 0x4567_89AB)
    return FlexFECHeader(fields: fields, ssrc: SSRC(0x0BAD_CAFE), base: SequenceNumber(0xFFFE), mask: mask)
  }

  @Test func `a mask of up to 15 packets stands in two bytes`() throws {
    let written = writtenBytes { header([0, 1, 14]).write(into: &$0) }
    #expect(written == wireBytes("12e00123 456789ab 01000000 0badcafe fffe e001"))
    #expect(parsing(written, FlexFECHeader.init(parsing:)) == header([0, 1, 14]))
  }

  @Test func `a mask of up to 46 packets goes on in four bytes`() throws {
    let written = writtenBytes { header([1, 15, 45]).write(into: &$0) }
    #expect(written == wireBytes("12e00123 456789ab 01000000 0badcafe fffe 2000 c0000001"))
    #expect(parsing(written, FlexFECHeader.init(parsing:)) == header([1, 15, 45]))
  }

  @Test func `a mask of up to 109 packets goes on in eight bytes more`() throws {
    let written = writtenBytes { header([0, 46, 108]).write(into: &$0) }
    #expect(written == wireBytes("12e00123 456789ab 01000000 0badcafe fffe 4000 00000000 c000000000000001"))
    #expect(parsing(written, FlexFECHeader.init(parsing:)) == header([0, 46, 108]))
  }

  @Test func `a mask may be longer than it need be`() throws {
    let longer = wireBytes("12e00123 456789ab 01000000 0badcafe fffe 7000 80000000 99")
    let parsed = try #require(parsing(longer, FlexFECHeader.init(parsing:)))
    #expect(parsed.size == 24 && parsed.mask == header([0, 1, 2]).mask)
  }

  @Test(arguments: [
    "92e00123 456789ab 01000000 0badcafe fffe e001",  // R
    "52e00123 456789ab 01000000 0badcafe fffe e001",  // F
    "12e00123 456789ab 02000000 0badcafe fffe e001",  // two streams
    "12e00123 456789ab 01000000 0badcafe fffe 8000",  // protects nothing
    "12e00123 456789ab 01000000 0badcafe fffe e0",
    "12e00123 456789ab 01000000 0badcafe fffe 2000 c00000",
    "12e00123 456789ab 01000000 0badcafe fffe 4000 00000000 c0000000000000",
    "12e00123 456789ab 01000000 0badcafe fffe 4000 00000000 4000000000000001",  // a mask without end
  ]) func `what is cut short or of another kind is refused`(_ dump: String) {
    #expect(parsing(wireBytes(dump), FlexFECHeader.init(parsing:)) == nil)
  }
}
