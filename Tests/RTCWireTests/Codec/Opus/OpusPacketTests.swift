import RTCWire
import Testing

@Suite struct OpusPacketTests {
  @Test func `every configuration has its mode and length`() throws {
    // RFC 6716 §3.1, table 2, in samples at 48 kHz.
    let silk = [480, 960, 1_920, 2_880]
    let celt = [120, 240, 480, 960]
    let expected = silk + silk + silk + [480, 960, 480, 960] + celt + celt + celt + celt
    for (config, samples) in expected.enumerated() {
      for stereo in [0, 1] {
        let packet = try #require(OpusPacket([UInt8(config << 3 | stereo << 2), 1, 2, 3]))
        #expect(packet.samplesPerFrame == samples && packet.sampleCount == samples && packet.frameCount == 1)
        #expect(packet.channels == stereo + 1)
        #expect(packet.mode == (config < 12 ? .silk : config < 16 ? .hybrid : .celt))
      }
    }
  }

  @Test func `two frames count twice`() {
    #expect(OpusPacket([0xFD, 1, 2, 3, 4])?.sampleCount == 1_920)
    #expect(OpusPacket([0xFD, 1, 2, 3]) == nil)  // R3: not of equal length
    #expect(OpusPacket([0xFE, 1, 9, 8, 7])?.sampleCount == 1_920)
    #expect(OpusPacket([0xFE, 4, 9, 8, 7]) == nil)  // R4: longer than what is there
    #expect(OpusPacket([0xFE, 3, 9, 8, 7])?.frameCount == 2)
    #expect(OpusPacket([0xFE]) == nil)
    #expect(OpusPacket([0xFE, 252]) == nil)
    #expect(OpusPacket([0xFE, 252, 0] + [UInt8](repeating: 1, count: 252))?.frameCount == 2)
  }

  @Test func `any number of frames up to 120 milliseconds`() {
    let payload = [UInt8](repeating: 1, count: 12)
    #expect(OpusPacket([0xFF, 6] + payload)?.sampleCount == 5_760)
    #expect(OpusPacket([0xFF, 7] + payload) == nil)  // R5
    #expect(OpusPacket([0xFF, 0] + payload) == nil)
    #expect(OpusPacket([0xFF]) == nil)
    #expect(OpusPacket([0xFF, 5] + payload) == nil)  // R6: 12 bytes in five equal parts
    #expect(OpusPacket([0xE7, 48] + [UInt8](repeating: 1, count: 48))?.sampleCount == 5_760)
    // R7: lengths before the frames.
    #expect(OpusPacket([0xFF, 0x83, 1, 2, 9, 9, 9])?.frameCount == 3)
    #expect(OpusPacket([0xFF, 0x83, 1, 3, 9, 9, 9]) == nil)
    #expect(OpusPacket([0xFF, 0x83, 1]) == nil)
  }

  @Test func `padding is no sound`() {
    #expect(OpusPacket([0xFF, 0x42, 2, 5, 6, 0, 0])?.frameCount == 2)
    #expect(OpusPacket([0xFF, 0x42, 3, 5, 6, 0, 0]) == nil)
    #expect(OpusPacket([0xFF, 0x41, 255, 1] + [UInt8](repeating: 0, count: 260))?.frameCount == 1)
    #expect(OpusPacket([0xFF, 0x41, 255, 10] + [UInt8](repeating: 0, count: 260)) == nil)
    #expect(OpusPacket([0xFF, 0x41, 255]) == nil)
  }

  @Test func `frames have a limit`() {
    #expect(OpusPacket([0xFC] + [UInt8](repeating: 1, count: 1_275)) != nil)
    #expect(OpusPacket([0xFC] + [UInt8](repeating: 1, count: 1_276)) == nil)  // R2
    #expect(OpusPacket([0xFD] + [UInt8](repeating: 1, count: 2_552)) == nil)
    #expect(OpusPacket([]) == nil)  // R1
    #expect(OpusPacket([0xFC])?.sampleCount == 960)  // a lost or silent frame
  }
}
