import RTCMedia
import RTCPrimitives
import RTCResample
import Testing

@Suite struct TimeTests {
  private static let format = AudioFormat(sampleRate: 48_000, channels: 1)

  private func frame(_ milliseconds: Double, count: Int = 480) -> AudioFrame {
    AudioFrame(
      format: Self.format, samples: [Float](repeating: 0.5, count: count),
      captureTime: Timestamp(nanoseconds: Int64(milliseconds * 1e6)))
  }

  @Test func `stamps that jitter by 20 ms come out steady`() {
    var random = SeededGenerator(seed: 3)
    let framer = AudioFramer(channels: 1)
    let blocks = framer.blocks(
      of: (0..<2_000).map { frame(1_000 + Double($0) * 10 + (random.nextUnit() - 0.5) * 40) })
    #expect(framer.counters == AudioFramer.Counters())
    #expect(blocks.all.count == 2_000)
    for (a, b) in zip(blocks.all, blocks.all.dropFirst()) {
      #expect(abs((b.captureTime - a.captureTime).microseconds - 10_000) <= 1_000)
    }
    for (index, block) in blocks.all.enumerated().dropFirst(400) {
      #expect(
        abs((block.captureTime - Timestamp(nanoseconds: Int64(1_000 + index * 10) * 1_000_000)).milliseconds) <= 3)
    }
  }

  @Test(arguments: [-200.0, -50, 50, 200]) func `a source whose clock is off is followed`(partsPerMillion: Double)
    throws
  {
    let framer = AudioFramer(channels: 1)
    var last: AudioBlock?
    for number in 0..<60_000 {
      framer.consume(frame(Double(number) * 10 * (1 + partsPerMillion / 1e6))) { last = $0 }
    }
    #expect(framer.counters == AudioFramer.Counters())
    let block = try #require(last)
    let said = Double(59_999) * 10 * (1 + partsPerMillion / 1e6)
    #expect(abs(Double(block.captureTime.nanoseconds) / 1e6 - said) < 2)
  }

  @Test func `a short hole is filled with silence`() {
    let framer = AudioFramer(channels: 1)
    let blocks = framer.blocks(of: (0..<10).map { frame(Double($0) * 10) } + (20..<30).map { frame(Double($0) * 10) })
    #expect(blocks.all.count == 30)
    #expect(framer.counters.filledGaps == 1)
    #expect(blocks.all.dropFirst().allSatisfy { !$0.startsAfterGap })
    let sound = blocks.channel(0, of: 1)
    #expect(sound[5_100..<9_600].allSatisfy { $0 == 0 })
    #expect(sound[4_799] == 0.5 && sound[9_900] == 0.5)
    #expect(blocks.all.last?.captureTime == Timestamp(nanoseconds: 290_000_000))
  }

  @Test func `at a long hole the position leaps and the sound is faded`() throws {
    let framer = AudioFramer(channels: 1)
    let blocks = framer.blocks(
      of: (0..<10).map { frame(Double($0) * 10) } + (0..<10).map { frame(5_003 + Double($0) * 10) })
    #expect(framer.counters.leaps == 1)
    let leap = try #require(blocks.all.dropFirst().first { $0.startsAfterGap })
    #expect(leap.position == 5_003 * 48)
    #expect(leap.captureTime == Timestamp(nanoseconds: 5_003_000_000))
    let before = try #require(blocks.all.last { $0.position < leap.position })
    #expect(before.samples.last == 0 && leap.samples.first.map { abs($0) < 0.001 } == true)
    for (a, b) in zip(blocks.all, blocks.all.dropFirst()) { #expect(b.position >= a.position + 480) }
  }

  @Test func `a source whose time goes back is believed, and position goes on`() {
    let framer = AudioFramer(channels: 1)
    let blocks = framer.blocks(
      of: (0..<10).map { frame(1_000 + Double($0) * 10) } + (0..<10).map { frame(Double($0) * 10) })
    #expect(framer.counters.rewinds == 1)
    #expect(blocks.all.map(\.position) == (0..<20).map { Int64($0) * 480 })
    #expect(blocks.all[10].captureTime == .zero)
  }

  @Test func `times beyond all reason do no harm`() {
    let framer = AudioFramer(channels: 1)
    var blocks = Blocks()
    for nanoseconds in [0, .max, .min, 5, .max - 1, -1, .min + 1] as [Int64] {
      let frame = AudioFrame(
        format: Self.format, samples: [Float](repeating: 0.5, count: 960),
        captureTime: Timestamp(nanoseconds: nanoseconds))
      framer.consume(frame) { blocks.all.append($0) }
    }
    for (a, b) in zip(blocks.all, blocks.all.dropFirst()) { #expect(b.position >= a.position + 480) }
  }
}
