import RTCWire
import Testing

@Suite struct OpusHeaderTests {
  @Test func `what is written reads the same`() {
    let header = OpusHeader(channels: 1, preSkip: 3840)
    #expect(header.bytes.count == 19)
    #expect(parsing(header.bytes, OpusHeader.init(parsing:)) == header)
    #expect(parsing(header.bytes.dropLast(), OpusHeader.init(parsing:)) == nil)
    #expect(parsing([UInt8](repeating: 0, count: 19), OpusHeader.init(parsing:)) == nil)
  }
}
