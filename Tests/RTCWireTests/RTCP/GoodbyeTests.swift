import RTCPrimitives
import RTCWire
import Testing

@Suite struct GoodbyeTests {
  private func sources(_ bytes: [UInt8]) -> [UInt32]? {
    withFirstPacket(bytes) { packet in
      guard let goodbye = Goodbye(parsing: packet) else { return nil }
      var sources: [UInt32] = []
      for index in 0..<goodbye.count { sources.append(goodbye[index].value) }
      return sources
    }
  }

  @Test func `a goodbye of aiortc parses and comes out again`() {
    let bytes = wireBytes("81cb000101020304")
    #expect(sources(bytes) == [0x0102_0304])
    let list = [SSRC(0x0102_0304)]
    #expect(writtenBytes { Goodbye.write(list.span, into: &$0) } == bytes)
    #expect(bytes.count == Goodbye.size(sources: 1))
  }

  @Test func `a reason is passed over, a missing source is not`() {
    #expect(sources(wireBytes("81cb0002 00000005 03627965")) == [5])
    #expect(sources(wireBytes("82cb0001 00000005")) == nil)
  }
}
