import RTCPrimitives
import RTCWire
import Testing

@Suite struct ULPFECHeaderTests {
  /// The example of RFC 5109 §10.1: media packets A to D, which one repair packet protects.
  @Test func `the repair packet of RFC 5109's example has its fields`() throws {
    // By number, marker, payload type, timestamp and bytes of payload.
    let media: [(UInt16, Bool, UInt8, UInt32, Int)] = [
      (8, true, 11, 3, 200), (9, false, 18, 5, 140), (10, true, 11, 7, 100), (11, false, 18, 9, 340),
    ]
    var fields = FECRecoveryFields()
    var mask = FECMask()
    for (index, packet) in media.enumerated() {
      let bytes = writtenBytes { writer in
        let header = RTPOutgoingHeader(
          payloadType: PayloadType(packet.2), sequenceNumber: SequenceNumber(packet.0),
          timestamp: RTPTimestamp(packet.3),
          ssrc: SSRC(2), marker: packet.1)
        _ = header.write(into: &writer, map: RTPHeaderExtensionMap())
        writer.write(repeating: 0, count: packet.4)
      }
      fields.combine(FECRecoveryFields(bytes.span))
      mask.insert(index)
    }
    #expect(fields.markerAndType == 0 && fields.timestamp == 8 && fields.length == 372)
    let header = ULPFECHeader(fields: fields, base: SequenceNumber(8), mask: mask, protectionLength: 340)
    let written = writtenBytes { writer in
      header.write(into: &writer)
      writer.write(repeating: 7, count: 340)
    }
    #expect(written[..<14] == wireBytes("0000 0008 00000008 0174 0154 f000")[...])
    #expect(parsing(written, ULPFECHeader.init(parsing:)) == header)
  }

  @Test func `a mask of more than 16 packets has six bytes`() throws {
    var mask = FECMask()
    for distance in [0, 16, 47] { mask.insert(distance) }
    let header = ULPFECHeader(
      fields: FECRecoveryFields(), base: SequenceNumber(0xFFFF), mask: mask, protectionLength: 1)
    let written = writtenBytes { writer in
      header.write(into: &writer)
      writer.write(UInt8(0xAA))
    }
    #expect(written == wireBytes("4000 ffff 00000000 0000 0001 8000 80000001 aa"))
    #expect(parsing(written, ULPFECHeader.init(parsing:)) == header)
  }

  @Test(arguments: [
    "8000 0008 00000008 0174 0001 f000 aa",  // an extension
    "0000 0008 00000008 0174 0002 f000 aa",  // claims more than follows
    "0000 0008 00000008 0174 0001 0000 aa",  // protects nothing
    "0000 0008 00000008 0174 0000 f0", "4000 0008 00000008 0174 0000 f000 0000",
  ]) func `what is cut short or of another kind is refused`(_ dump: String) {
    #expect(parsing(wireBytes(dump), ULPFECHeader.init(parsing:)) == nil)
  }
}
