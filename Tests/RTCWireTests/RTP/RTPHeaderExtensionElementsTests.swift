import RTCWire
import Testing

@Suite struct RTPHeaderExtensionElementsTests {
  private func elements(_ dump: String, profile: UInt16) -> [String] {
    let block = wireBytes(dump)
    var elements = RTPHeaderExtensionElements(in: block.span, block: 0..<block.count, profile: profile)
    var result: [String] = []
    while let element = elements.next() { result.append("\(element.id):\(element.range)") }
    return result
  }

  @Test func `the one-byte form of aiortc is walked`() {
    #expect(
      elements("14766964656f 2215846c 409e 311234 00", profile: 0xBEDE) == [
        "1:1..<6", "2:7..<10", "4:11..<12", "3:13..<15",
      ])
  }

  @Test func `the two-byte form may hold empty and long elements`() {
    #expect(elements("0100 00 1102abcd 0000ff01aa", profile: 0x1005) == ["1:2..<2", "17:5..<7", "255:11..<12"])
  }

  @Test func `padding alone holds no element`() {
    #expect(elements("00000000", profile: 0xBEDE).isEmpty)
    #expect(elements("", profile: 0x1000).isEmpty)
  }

  @Test func `an element past the end of the block stops the walk`() {
    #expect(elements("10aa 2f010203", profile: 0xBEDE) == ["1:1..<2"])
    #expect(elements("0101aa 02ff0000", profile: 0x1000) == ["1:2..<3"])
    #expect(elements("0101aa 02", profile: 0x1000) == ["1:2..<3"])
  }

  @Test func `identifier 15 and padding with a length stop the one-byte form`() {
    #expect(elements("10aa f0bb 20cc", profile: 0xBEDE) == ["1:1..<2"])
    #expect(elements("10aa 01bbbb 20cc", profile: 0xBEDE) == ["1:1..<2"])
  }

  @Test func `a block of an unknown profile has no elements`() {
    #expect(elements("10aa0000", profile: 0x1234).isEmpty)
  }
}
