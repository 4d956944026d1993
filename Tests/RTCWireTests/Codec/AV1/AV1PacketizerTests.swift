import RTCPrimitives
import RTCWire
import Testing

@Suite struct AV1PacketizerTests {
  private func split(_ data: [UInt8], isKey: Bool, room: Int) -> [(bytes: [UInt8], isLast: Bool)] {
    var split = AV1Packetizer(data.span, isKeyFrame: isKey, room: room)
    return payloads(of: data) { split.next(in: data.span) }
  }

  private func reassembled(_ parts: [(bytes: [UInt8], isLast: Bool)]) -> [UInt8] {
    var assembly = AV1Depacketizer()
    for part in parts { assembly.append(part.bytes.span) }
    return assembly.data
  }

  /// Without the temporal delimiter, which takes two bytes.
  private func bare(_ unit: [UInt8]) -> [UInt8] { unit.starts(with: [0x12, 0]) ? Array(unit[2...]) : unit }

  @Test func `real units come back at every packet size`() {
    for stream in [EncodedStreams.av1, EncodedStreams.av1Hidden] {
      for (index, unit) in stream.enumerated() {
        for room in 64...700 {
          let parts = split(unit, isKey: index == 0, room: room)
          #expect(parts.allSatisfy { $0.bytes.count <= room })
          #expect(parts.filter(\.isLast).count == 1 && parts.last?.isLast == true)
          #expect(reassembled(parts) == bare(unit))
        }
      }
    }
  }

  @Test func `no packet but the last ends where a unit ends`() throws {
    for unit in EncodedStreams.av1Hidden + EncodedStreams.av1 {
      for room in 64...700 {
        let headers = split(unit, isKey: false, room: room).map { AV1AggregationHeader($0.bytes[0])! }
        #expect(headers.dropLast().allSatisfy(\.isContinued) && headers.last?.isContinued == false)
        #expect(headers.dropFirst().allSatisfy(\.continuesUnit) && headers.first?.continuesUnit == false)
      }
    }
  }

  @Test func `the sequence header travels with the key frame, whose first packet says so`() {
    let parts = split(EncodedStreams.av1[0], isKey: true, room: 250)
    // Two elements, continued, start of a sequence; 11 bytes of sequence header without its size; the frame's header.
    #expect(Array(parts[0].bytes[..<14]) == wireBytes("68 0b 08 0000 0002 aff7 9b5f 2008 30"))
    #expect(parts.dropFirst().allSatisfy { $0.bytes[0] & 0x08 == 0 })
    #expect(Set(parts.dropLast().map(\.bytes.count)).count == 1)
  }

  @Test func `the last unit may be without a size`() {
    let data = wireBytes("0a 01 05 30 010203")
    let parts = split(data, isKey: false, room: 100)
    #expect(parts.count == 1 && parts[0].bytes == wireBytes("20 02 0805 30 010203"))
    #expect(reassembled(parts) == wireBytes("0a 01 05 32 03 010203"))
  }

  @Test func `what follows a broken unit is left out, and a unit that is all broken has nothing to send`() {
    let parts = split(wireBytes("3202 0102 3209 01"), isKey: false, room: 100)
    #expect(parts.count == 1 && parts[0].isLast && reassembled(parts) == wireBytes("3202 0102"))
    for dump in ["", "1200", "92", "3209 01"] {
      #expect(AV1Packetizer(wireBytes(dump).span, isKeyFrame: true, room: 100).isAtEnd)
    }
  }

  @Test func `any chain of units comes back, empty ones included`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2_000 {
      var data: [UInt8] = []
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let size = [0, 1, 2, 20, 30, 100, 127, 128, 300].randomElement(using: &random)!
        let layers: UInt8? = Bool.random(using: &random) ? 0x28 : nil
        data += writtenBytes {
          AV1OBUHeader(kind: .init(rawValue: 6), hasSize: true, layers: layers).write(into: &$0)
          $0.writeLEB128(UInt32(size))
          for _ in 0..<size { $0.write(UInt8.random(in: 0...255, using: &random)) }
        }
      }
      let room = Int.random(in: 64...200, using: &random)
      let parts = split(data, isKey: true, room: room)
      #expect(parts.allSatisfy { $0.bytes.count <= room })
      #expect(reassembled(parts) == data)
    }
  }
}
