import RTCPrimitives
import RTCWire
import Testing

@Suite struct H264PacketizerTests {
  private func split(_ data: [UInt8], room: Int) -> [(bytes: [UInt8], isLast: Bool)] {
    var split = H264Packetizer(data.span, room: room)
    return payloads(of: data) { split.next(in: data.span) }
  }

  private func reassembled(_ parts: [(bytes: [UInt8], isLast: Bool)]) -> [UInt8] {
    var frame: [UInt8] = []
    for part in parts { H264Payload(parsing: part.bytes.span)!.append(part.bytes.span, to: &frame) }
    return frame
  }

  /// With start codes of four bytes, as frames come out at the far end.
  private func normal(_ data: [UInt8]) -> [UInt8] {
    var stream = H264ByteStream(data.span)
    var result: [UInt8] = []
    while let unit = stream.nextUnit(in: data.span) { result += [0, 0, 0, 1] + data[unit] }
    return result
  }

  @Test func `small units travel whole, a large one in equal fragments`() {
    let parts = split(EncodedStreams.h264[0], room: 120)
    #expect(parts.map { $0.bytes[0] & 0x1F } == [7, 8, 28, 28, 28])
    #expect(parts.map(\.isLast) == [false, false, false, false, true])
    #expect(parts[2].bytes.count == parts[3].bytes.count && parts[4].bytes.count <= parts[3].bytes.count)
    #expect(parts[2].bytes[1] == 0x85 && parts[3].bytes[1] == 0x05 && parts[4].bytes[1] == 0x45)
  }

  @Test func `real frames come back at every packet size`() {
    for frame in EncodedStreams.h264 {
      for room in 4...420 {
        let parts = split(frame, room: room)
        #expect(parts.allSatisfy { $0.bytes.count <= room })
        #expect(parts.filter(\.isLast).count == 1 && parts.last?.isLast == true)
        #expect(reassembled(parts) == normal(frame))
      }
    }
  }

  @Test func `what has come and what is to come add up`() {
    let data = EncodedStreams.h264[0]
    var split = H264Packetizer(data.span, room: 100)
    var last = data.count
    while let piece = split.next(in: data.span) {
      let rest = split.remainingBytes(of: data.count)
      #expect(rest <= data.count - piece.range.upperBound && rest < last)
      last = rest
    }
    #expect(split.isAtEnd && last == 0)
  }

  @Test(arguments: ["", "0000", "6742e01f 65", "000001"]) func `what is no byte stream has nothing to send`(
    dump: String
  ) {
    let data = wireBytes(dump)
    #expect(H264Packetizer(data.span, room: 100).isAtEnd)
    #expect(split(data, room: 100).isEmpty)
  }
}
