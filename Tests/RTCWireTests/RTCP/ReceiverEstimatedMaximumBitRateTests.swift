import RTCPrimitives
import RTCWire
import Testing

@Suite struct ReceiverEstimatedMaximumBitRateTests {
  private func parsed(_ bytes: [UInt8]) -> (rate: BitRate, sources: [UInt32])? {
    withFirstPacket(bytes) { packet in
      guard let estimate = ReceiverEstimatedMaximumBitRate(parsing: packet) else { return nil }
      var sources: [UInt32] = []
      for index in 0..<estimate.count { sources.append(estimate[index].value) }
      return (estimate.bitRate, sources)
    }
  }

  private func written(_ rate: Int64) -> [UInt8] {
    let sources = [SSRC(0xDEAD_BEEF), SSRC(7)]
    return writtenBytes {
      ReceiverEstimatedMaximumBitRate.write(
        sender: SSRC(1), bitRate: .bitsPerSecond(rate), sources: sources.span, into: &$0)
    }
  }

  @Test func `an estimate of aiortc parses and comes out again`() throws {
    let bytes = wireBytes("8fce0006000000010000000052454d420213f7a0deadbeef00000007")
    let remb = try #require(parsed(bytes))
    #expect(remb.rate == .bitsPerSecond(4_160_000) && remb.sources == [0xDEAD_BEEF, 7])
    #expect(written(4_160_000) == bytes)
  }

  @Test(
    arguments: [
      (0, 0), (-5, 0), (262_143, 262_143), (262_145, 262_144), (1_000_001, 1_000_000), (.max, .max - 0x1FFF_FFFF_FFFF),
    ] as [(Int64, Int64)]) func `rates keep 18 bits`(rate: Int64, kept: Int64) throws
  {
    #expect(try #require(parsed(written(rate))).rate.bitsPerSecond == kept)
  }

  @Test func `a rate beyond reckoning saturates`() throws {
    let bytes = wireBytes("8fce0004 00000001 00000000 52454d42 00ffffff")
    #expect(try #require(parsed(bytes)).rate.bitsPerSecond == .max)
  }

  @Test(arguments: [
    "8fce0004 00000001 00000000 52454d43 00000001", "8fce0004 00000001 00000000 52454d42 01000001",
    "8fce0003 00000001 00000000 52454d42",
  ]) func `what is not REMB, or too short, is refused`(dump: String) {
    #expect(parsed(wireBytes(dump)) == nil)
  }
}
