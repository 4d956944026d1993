import RTCPrimitives
import RTCWire
import Testing

@Suite struct GenericNACKTests {
  private func lost(_ bytes: [UInt8]) -> [UInt16]? {
    withFirstPacket(bytes) { packet in
      guard var nack = GenericNACK(parsing: packet) else { return nil }
      var result: [UInt16] = []
      while let number = nack.next() { result.append(number.value) }
      return result
    }
  }

  private func written(_ numbers: [UInt16], capacity: Int = 1500) -> (bytes: [UInt8], taken: Int) {
    let list = numbers.map { SequenceNumber($0) }
    var taken = 0
    let bytes = writtenBytes(capacity: capacity) {
      taken = GenericNACK.write(sender: SSRC(0x0102_0304), media: SSRC(0x0A0B_0C0D), lost: list.span, into: &$0)
    }
    return (bytes, taken)
  }

  @Test func `a NACK of aiortc parses and comes out again`() {
    let bytes = wireBytes("81cd0004010203040a0b0c0d0005800500280000")
    #expect(lost(bytes) == [5, 6, 8, 21, 40])
    #expect(written([5, 6, 8, 21, 40]).bytes == bytes)
    let sources = withFirstPacket(bytes) { packet -> [SSRC]? in
      guard let nack = GenericNACK(parsing: packet) else { return nil }
      return [nack.sender, nack.media]
    }
    #expect(sources == [SSRC(0x0102_0304), SSRC(0x0A0B_0C0D)])
  }

  @Test func `numbers wrap`() {
    let numbers: [UInt16] = [65_520, 65_535, 0, 3, 17, 33]
    #expect(lost(written(numbers).bytes) == numbers)
  }

  @Test func `room for only some takes only some`() {
    let (bytes, taken) = written([1, 100, 200, 300], capacity: 12 + 8 + 3)
    #expect(taken == 2 && lost(bytes) == [1, 100])
    #expect(written([1], capacity: 15).taken == 0)
    #expect(written([]).bytes.isEmpty)
  }

  @Test func `random sets make the round trip`() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      var number = UInt16.random(in: 0...UInt16.max, using: &random)
      let numbers = (0..<Int.random(in: 1...80, using: &random)).map { _ in
        number &+= UInt16.random(in: 1...40, using: &random)
        return number
      }
      let (bytes, taken) = written(numbers)
      #expect(taken == numbers.count && lost(bytes) == numbers)
    }
  }

  @Test func `a packet without a pair is refused`() {
    #expect(lost(wireBytes("81cd0002 00000001 00000002")) == nil)
    #expect(lost(wireBytes("81cd0001 00000001")) == nil)
  }
}
