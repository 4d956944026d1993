import RTCPrimitives
import RTCWire
import Testing

@Suite struct REDBlocksTests {
  private func blocks(_ payload: [UInt8]) -> [REDBlock]? {
    parsing(payload) { span in
      guard var walk = REDBlocks(parsing: span) else { return nil }
      var result: [REDBlock] = []
      while let block = walk.next(in: span) { result.append(block) }
      return result
    }
  }

  @Test func `a primary block alone costs one byte`() {
    #expect(blocks(wireBytes("6f aabb")) == [REDBlock(payloadType: PayloadType(111), timestampOffset: 0, range: 1..<3)])
  }

  @Test func `redundant blocks stand before the primary one, in their order`() {
    let payload = writtenBytes { writer in
      REDBlock.writeRedundantHeader(PayloadType(111), timestampOffset: 1_920, count: 2, into: &writer)
      REDBlock.writeRedundantHeader(PayloadType(111), timestampOffset: 960, count: 0, into: &writer)
      REDBlock.writePrimaryHeader(PayloadType(111), into: &writer)
      writer.write(repeating: 5, count: 5)
    }
    #expect(payload == wireBytes("ef1e0002 ef0f0000 6f 0505050505"))
    #expect(
      blocks(payload) == [
        REDBlock(payloadType: PayloadType(111), timestampOffset: 1_920, range: 9..<11),
        REDBlock(payloadType: PayloadType(111), timestampOffset: 960, range: 11..<11),
        REDBlock(payloadType: PayloadType(111), timestampOffset: 0, range: 11..<14),
      ])
  }

  @Test(arguments: ["", "ef1e0002", "ef1e00", "ef1e0003 6f 0505"])
  func `headers without end, and blocks longer than the packet, are refused`(_ dump: String) {
    #expect(blocks(wireBytes(dump)) == nil)
  }
}
