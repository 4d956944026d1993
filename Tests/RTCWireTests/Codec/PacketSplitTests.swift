import RTCWire
import Testing

@Suite struct PacketSplitTests {
  @Test func `an empty frame has no packets`() {
    #expect(PacketSplit(frameSize: 0, maximumPayload: 1200).count == 0)
  }

  @Test func `sizes are balanced, the last may be shorter`() {
    let split = PacketSplit(frameSize: 2500, maximumPayload: 1200)
    #expect(split.count == 3 && split.packetSize == 834)
    #expect((0..<3).map { split.range(of: $0) } == [0..<834, 834..<1668, 1668..<2500])
  }

  @Test func `ranges cover the frame with as few packets as can be`() {
    for maximum in 1...40 {
      for size in 1...400 {
        let split = PacketSplit(frameSize: size, maximumPayload: maximum)
        var end = 0
        for index in 0..<split.count {
          let range = split.range(of: index)
          #expect(range.lowerBound == end && !range.isEmpty && range.count <= maximum)
          #expect(range.count == split.packetSize || index == split.count - 1)
          end = range.upperBound
        }
        #expect(end == size && split.count == (size + maximum - 1) / maximum)
      }
    }
  }
}
