import RTCBitstream
import Testing

@Suite struct OpusHeaderTests {
  @Test func `what is written reads the same`() {
    let header = OpusHeader(channels: 1, preSkip: 3840)
    #expect(header.bytes.count == 19)
    #expect(OpusHeader(header.bytes) == header)
    #expect(OpusHeader(header.bytes.dropLast().map { $0 }) == nil)
    #expect(OpusHeader([UInt8](repeating: 0, count: 19)) == nil)
  }
}
