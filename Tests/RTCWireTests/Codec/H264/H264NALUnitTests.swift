import RTCWire
import Testing

@Suite struct H264NALUnitTests {
  private func units(_ bytes: [UInt8]) -> [[UInt8]] {
    var stream = H264ByteStream(bytes.span)
    var result: [[UInt8]] = []
    while let unit = stream.nextUnit(in: bytes.span) { result.append(Array(bytes[unit])) }
    return result
  }

  @Test func `a header has nal_ref_idc and kind`() throws {
    let header = try #require(H264NALUnitHeader(0x65))
    #expect(header.nalRefIDC == 3 && header.kind == .idrSlice && header.byte == 0x65)
    #expect(H264NALUnitHeader(0xE5) == nil)
    #expect(H264NALUnitHeader(nalRefIDC: 7, kind: .init(rawValue: 0xFF)).byte == 0x7F)
  }

  @Test func `units of a real stream are found between start codes of both lengths`() {
    let kinds = EncodedStreams.h264.map { units($0).map { $0[0] } }
    #expect(kinds == [[0x67, 0x68, 0x65], [0x41], [0x41]])
    #expect(units(EncodedStreams.h264[0])[1] == wireBytes("68ce039c80"))
  }

  @Test func `nothing but zeros may stand before the first start code of a whole stream`() {
    let cut = { (bytes: [UInt8]) in parsing(bytes) { H264ByteStream.units(in: $0) } }
    #expect(cut(wireBytes("00 000001 6701 000001 68")) == [4..<6, 9..<10])
    #expect(cut([]) == [])
    #expect(cut(wireBytes("ff 000001 67")) == nil)
    #expect(cut(wireBytes("6701")) == nil)
    #expect(cut([0, 0, 0]) == nil)
  }

  @Test func `a payload is read without the bytes that keep start codes from arising`() {
    let payload = parsing(wireBytes("67 000003 01 000003 0003")) { H264NALUnitHeader.payload(of: $0, limit: 100) }
    #expect(payload == wireBytes("0000 01 0000 0003"))
    #expect(parsing(wireBytes("67 0102030405")) { H264NALUnitHeader.payload(of: $0, limit: 2) } == [1, 2])
  }

  @Test func `zeros before a start code belong to no unit, and empty units are passed over`() {
    #expect(units(wireBytes("00000001 6701 0000 000001 000001 6802 00000001")) == [[0x67, 0x01], [0x68, 0x02]])
    #expect(units(wireBytes("000001 67 00000300 000001 68")) == [wireBytes("67000003"), [0x68]])
    #expect(units(wireBytes("ff00 000001 01 0001 00 01")) == [wireBytes("0100010001")])
  }

  @Test(arguments: ["", "00", "0000", "000001", "00000001", "6742e01f", "000000", "000002 67"])
  func `without a start code and a byte behind it there is no unit`(dump: String) {
    #expect(units(wireBytes(dump)).isEmpty)
  }
}
