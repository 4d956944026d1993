import FeatureKit
import RTCMedia
import RTCPrimitives
import RTCResample
import Testing

@Suite struct FramingTests {
  /// Cuts a tone at random places, down to frames of one sample.
  private func pieces(rate: Int, channels: Int, seed: UInt64) -> [AudioFrame] {
    var random = SeededGenerator(seed: seed)
    var frames: [AudioFrame] = []
    var start = 0
    while start < rate {
      let longest = [1, 7, rate / 100, rate / 9].randomElement(using: &random)!
      let end = min(rate, start + Int.random(in: 1...longest, using: &random))
      frames.append(Tone(frequency: 440, amplitude: 0.3).frame(start..<end, rate: rate, channels: channels))
      start = end
    }
    return frames
  }

  @Test(
    .feature("S4.5"), arguments: [(48_000, 1), (48_000, 2), (44_100, 2), (8_000, 1), (96_000, 6)], [1, 2] as [Int])
  func `however a sound is cut, the blocks are the same`(format: (rate: Int, channels: Int), channels: Int) {
    let whole = AudioFramer(channels: channels).blocks(
      of: [Tone(frequency: 440, amplitude: 0.3).frame(0..<format.rate, rate: format.rate, channels: format.channels)],
      finishing: true)
    #expect(whole.all.count == 101, "a second, and the 5 ms in which it fades")
    for seed in 1...20 as ClosedRange<UInt64> {
      let framer = AudioFramer(channels: channels)
      let blocks = framer.blocks(of: pieces(rate: format.rate, channels: format.channels, seed: seed), finishing: true)
      #expect(blocks.all.count == whole.all.count)
      #expect(framer.counters == AudioFramer.Counters())
      for (index, (block, other)) in zip(blocks.all, whole.all).enumerated() {
        #expect(block.samples.count == 480 * channels)
        #expect(block.position == Int64(index) * 480)
        #expect(abs((block.captureTime - other.captureTime).nanoseconds) < 1_000)
        #expect(block.startsAfterGap == (index == 0))
        #expect(zip(block.samples, other.samples).allSatisfy { abs($0 - $1) < 1e-5 })
      }
    }
  }

  @Test(arguments: [44_100, 22_050, 11_025, 96_000, 47_999])
  func `every second has its number of samples, neither one more nor one less`(rate: Int) throws {
    let resampler = try AudioResampler(inputRate: rate, channels: 1)
    let second = [Float](repeating: 0.25, count: rate)
    let lag = Int(resampler.latency.nanoseconds * 48 / 1_000_000)
    var out: [Float] = []
    for number in 1...60 {
      resampler.resample(second.span, into: &out)
      if number == 1 { #expect(abs(out.count - (48_000 - lag)) <= 1) } else { #expect(out.count == 48_000) }
      out.removeAll(keepingCapacity: true)
    }
  }

  @Test func `after an hour of frames position and time are exact`() {
    let framer = AudioFramer(channels: 1)
    let format = AudioFormat(sampleRate: 44_100, channels: 1)
    let samples = [Float](repeating: 0.25, count: 1_764)
    var last: AudioBlock?
    var count: Int64 = 0
    for number in 0..<Int64(90_000) {
      // 40 ms each.
      let frame = AudioFrame(
        format: format, samples: samples, captureTime: Timestamp(nanoseconds: number * 40_000_000))
      framer.consume(frame) { block in
        count += 1
        last = block
      }
    }
    framer.finish { _ in count += 1 }
    #expect(count == 360_001)
    #expect(last?.position == last.map { $0.captureTime.nanoseconds * 48 / 1_000_000 })
    #expect(framer.counters == AudioFramer.Counters())
  }

  @Test func `a framer that has finished takes up the count again where time says`() {
    let framer = AudioFramer(channels: 1)
    let tone = Tone(frequency: 440, amplitude: 0.3)
    _ = framer.blocks(of: [tone.frame(0..<4_800, rate: 48_000)], finishing: true)
    let again = framer.blocks(of: [tone.frame(0..<4_800, rate: 48_000, from: Timestamp(nanoseconds: 1_000_000_000))])
    #expect(again.all.count == 10)
    #expect(again.all.first?.position == 48_000)
    #expect(again.all.first?.startsAfterGap == true)
    #expect(again.all.first?.captureTime == Timestamp(nanoseconds: 1_000_000_000))
  }
}
