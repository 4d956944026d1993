import RTCWire
import Testing

@Suite struct RTCPCompoundTests {
  private func walk(_ dump: String) -> [String]? {
    let datagram = wireBytes(dump)
    guard var compound = RTCPCompound(parsing: datagram.span) else { return nil }
    var result: [String] = []
    while let packet = compound.next() { result.append("\(packet.kind) \(packet.count) \(packet.body.count)") }
    return result
  }

  @Test func `a compound of ffmpeg is a sender report and a description`() {
    #expect(
      walk(
        "80c80006c0e5d0b6eeab9be48147ae14dbd2faab0000000000000000 81ca0004c0e5d0b6010672746361737400000000")
        == ["senderReport 0 24", "sourceDescription 1 16"])
  }

  @Test func `kinds come from type and format`() {
    #expect(
      walk("81cd0000 8fcd0000 85cd0000 81ce0000 84ce0000 8fce0000 80cf0000 80cb0000 80cc0000")
        == [
          "genericNACK 1 0", "transportFeedback 15 0", "other 5 0", "pictureLossIndication 1 0", "fullIntraRequest 4 0",
          "applicationLayerFeedback 15 0", "extendedReport 0 0", "goodbye 0 0", "other 0 0",
        ])
  }

  @Test func `padding on the last packet is taken off`() {
    #expect(walk("80cb0000 a0cb0002 0000000000000004") == ["goodbye 0 0", "goodbye 0 4"])
  }

  @Test(arguments: [
    "", "80c800", "80c80001", "80c80001000000", "40cb0000", "80cb0000 00", "80cb0000 80cbffff",
    "a0cb0000", "a0cb000100000000", "a0cb000100000008", "a0cb000100000004 80cb0000",
  ]) func `bad lengths, versions and padding are refused whole`(dump: String) {
    #expect(walk(dump) == nil)
  }
}
