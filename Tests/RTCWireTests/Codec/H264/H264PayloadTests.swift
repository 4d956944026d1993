import RTCPrimitives
import RTCWire
import Testing

@Suite struct H264PayloadTests {
  /// The beginnings of ffmpeg's payloads for `EncodedStreams.h264`.
  private let aggregation = "180015 6742c00ada11ec044000000300400000 0503c489a8 0005 68ce039c80"

  private func fragment(_ bytes: [UInt8]) -> H264FragmentationUnit? {
    var reader = ByteReader(bytes.span)
    return H264FragmentationUnit(parsing: &reader)
  }

  private func frame(_ payloads: [[UInt8]]) -> [UInt8] {
    var frame: [UInt8] = []
    for payload in payloads { H264Payload(parsing: payload.span)?.append(payload.span, to: &frame) }
    return frame
  }

  @Test func `fragment headers of ffmpeg parse and come out again`() throws {
    let first = try #require(fragment(wireBytes("7c85 8884")))
    #expect(first.unit.byte == 0x65 && first.startsUnit && !first.endsUnit)
    #expect(writtenBytes { first.write(into: &$0) } == wireBytes("7c85"))
    let last = try #require(fragment(wireBytes("7c45")))
    #expect(!last.startsUnit && last.endsUnit && last.unit == first.unit)
    #expect(writtenBytes { last.write(into: &$0) } == wireBytes("7c45"))
  }

  @Test(arguments: ["", "7c", "7cc5", "fc85", "6585", "7c80", "7c9c"]) func `what is no fragment is refused`(
    dump: String
  ) {
    #expect(fragment(wireBytes(dump)) == nil)
  }

  @Test func `an aggregation of ffmpeg parses and comes out again`() throws {
    let bytes = wireBytes(aggregation)
    var packet = try #require(parsing(bytes, H264AggregationPacket.init(parsing:)))
    var units: [[UInt8]] = []
    while let unit = packet.next(in: bytes.span) { units.append(Array(bytes[unit])) }
    #expect(units.map { $0[0] } == [0x67, 0x68] && units.map(\.count) == [21, 5])
    var written = writtenBytes { H264AggregationPacket.write(units, into: &$0) }
    #expect(written[0] == 0x78)  // the highest nal_ref_idc; ffmpeg says none
    written[0] = 0x18
    #expect(written == bytes)
  }

  @Test(arguments: ["18", "1800", "180000", "180002 67", "180001 67 00", "180001 67 0001", "180001 1c", "980001 67"])
  func `an aggregation whose lengths do not fill it is refused`(dump: String) {
    #expect(parsing(wireBytes(dump), H264AggregationPacket.init(parsing:)) == nil)
    #expect(parsing(wireBytes(dump), H264Payload.init(parsing:)) == nil)
  }

  @Test func `a payload says what it holds`() throws {
    let sets = try #require(parsing(wireBytes(aggregation), H264Payload.init(parsing:)))
    #expect(sets.startsUnit && sets.hasParameterSet && !sets.isIDR)
    let first = try #require(parsing(wireBytes("7c85 88"), H264Payload.init(parsing:)))
    #expect(first.startsUnit && !first.hasParameterSet && first.isIDR)
    let next = try #require(parsing(wireBytes("7c05 88"), H264Payload.init(parsing:)))
    #expect(!next.startsUnit && next.isIDR)
    let slice = try #require(parsing(wireBytes("419a"), H264Payload.init(parsing:)))
    #expect(slice.startsUnit && !slice.hasParameterSet && !slice.isIDR)
  }

  @Test(arguments: ["", "00", "7c85", "19 0001 67", "1d8500", "1e", "1f", "c1", "81"])
  func `payloads of other modes and broken ones are refused`(dump: String) {
    #expect(parsing(wireBytes(dump), H264Payload.init(parsing:)) == nil)
  }

  @Test func `payloads become a byte stream again`() {
    #expect(
      frame([wireBytes(aggregation), wireBytes("7c85 0102"), wireBytes("7c05 03"), wireBytes("7c45 0405")])
        == wireBytes(
          "00000001 6742c00ada11ec0440000003004000000503c489a8 00000001 68ce039c80 00000001 65 0102030405"))
    #expect(frame([wireBytes("419a")]) == wireBytes("00000001 419a"))
  }
}
