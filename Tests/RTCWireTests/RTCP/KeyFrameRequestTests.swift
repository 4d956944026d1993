import RTCPrimitives
import RTCWire
import Testing

@Suite struct KeyFrameRequestTests {
  private func entries(_ bytes: [UInt8]) -> [FullIntraRequest.Entry]? {
    withFirstPacket(bytes) { packet in
      guard let request = FullIntraRequest(parsing: packet) else { return nil }
      var entries: [FullIntraRequest.Entry] = []
      for index in 0..<request.count { entries.append(request[index]) }
      return entries
    }
  }

  @Test func `a picture loss indication of aiortc parses and comes out again`() {
    let bytes = wireBytes("81ce000200000001deadbeef")
    let indication = PictureLossIndication(sender: SSRC(1), media: SSRC(0xDEAD_BEEF))
    #expect(withFirstPacket(bytes) { PictureLossIndication(parsing: $0) } == indication)
    #expect(writtenBytes { indication.write(into: &$0) } == bytes)
    #expect(withFirstPacket(wireBytes("81ce0001 00000001")) { PictureLossIndication(parsing: $0) } == nil)
  }

  @Test func `a full intra request lists streams`() {
    let bytes = wireBytes("84ce0006 00000001 00000000 deadbeef 07000000 00000009 ff123456")
    let expected = [
      FullIntraRequest.Entry(media: SSRC(0xDEAD_BEEF), commandSequenceNumber: 7),
      FullIntraRequest.Entry(media: SSRC(9), commandSequenceNumber: 255),
    ]
    #expect(entries(bytes) == expected)
  }

  @Test func `a full intra request comes out as RFC 5104 says`() {
    let bytes = writtenBytes {
      FullIntraRequest.write(sender: SSRC(1), .init(media: SSRC(2), commandSequenceNumber: 3), into: &$0)
    }
    #expect(bytes == wireBytes("84ce0004 00000001 00000000 00000002 03000000"))
    #expect(bytes.count == FullIntraRequest.size)
  }

  @Test func `a full intra request without a stream is refused`() {
    let bytes = wireBytes("84ce0003 00000001 00000000 deadbeef")
    #expect(entries(bytes) == nil)
  }
}
