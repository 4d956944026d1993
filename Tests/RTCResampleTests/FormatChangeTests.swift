import FeatureKit
import RTCMedia
import RTCPrimitives
import RTCResample
import Testing

@Suite struct FormatChangeTests {
  /// The sharpest bend in the sound; a click is a bend.
  private func sharpestBend(_ sound: some Collection<Float>) -> Float {
    let slopes = zip(sound.dropFirst(), sound).map { $0 - $1 }
    return zip(slopes.dropFirst(), slopes).map { ($0 - $1).magnitude }.max() ?? 0
  }

  @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (48_000, 8_000), (8_000, 96_000), (192_000, 22_050)])
  func `a change of rate in the middle of a tone makes no click`(old: Int, new: Int) {
    let tone = Tone(frequency: 440)
    for tenth in 1...7 {
      // Half a second and a bit, so that the switch meets the tone at different places of its wave.
      let (oldEnd, newStart) = (old / 2 + tenth * old / 8_000, new / 2 + tenth * new / 8_000)
      let framer = AudioFramer(channels: 1)
      let blocks = framer.blocks(of: [
        tone.frame(0..<oldEnd, rate: old), tone.frame(newStart..<new, rate: new),
      ])
      let sound = blocks.channel(0, of: 1)
      #expect(blocks.all.count >= 98)
      #expect(framer.counters.formatChanges == 1)
      // The tone's own bend is 0.0017; a step of a tenth of its height would be 0.05.
      #expect(sharpestBend(sound[480..<46_000]) < 0.005)
      #expect(tone.fit(sound[26_400..<45_600]).signalToNoise > 60)
      #expect(blocks.all.dropFirst().allSatisfy { !$0.startsAfterGap })
    }
  }

  @Test(.feature("S4.8")) func `formats that change with every frame still make whole blocks without clicks`() {
    var random = SeededGenerator(seed: 7)
    let tone = Tone(frequency: 300)
    let framer = AudioFramer()
    var now = Timestamp.zero
    var blocks = Blocks()
    for _ in 0..<300 {
      let rate = [8_000, 16_000, 44_100, 48_000, 96_000].randomElement(using: &random)!
      let channels = [1, 2, 6].randomElement(using: &random)!
      let start = Int(now.nanoseconds * Int64(rate) / 1_000_000_000)
      var frame = tone.frame(start..<start + rate / 125, rate: rate, channels: 1)
      let silent = [Float](repeating: 0, count: max(0, channels - 2))
      frame = AudioFrame(
        format: AudioFormat(sampleRate: rate, channels: channels),
        samples: frame.samples.flatMap { channels == 1 ? [$0] : [$0, $0] + silent }, captureTime: now)
      framer.consume(frame) { blocks.all.append($0) }
      now += .milliseconds(8)
    }
    #expect((238...241).contains(blocks.all.count))
    #expect(blocks.all.allSatisfy { $0.samples.count == 960 })
    #expect(sharpestBend(blocks.channel(0, of: 2).dropFirst(480)) < 0.02)
    #expect(blocks.channel(0, of: 2) == blocks.channel(1, of: 2))
  }

  @Test func `a change from one sound to quite another is faded`() {
    let framer = AudioFramer(channels: 1)
    let high = [Float](repeating: 0.9, count: 4_800)
    let low = [Float](repeating: -0.9, count: 4_410)
    let blocks = framer.blocks(of: [
      AudioFrame(format: AudioFormat(sampleRate: 48_000, channels: 1), samples: high, captureTime: .zero),
      AudioFrame(
        format: AudioFormat(sampleRate: 44_100, channels: 1), samples: low,
        captureTime: Timestamp(nanoseconds: 100_000_000)),
    ])
    let sound = blocks.channel(0, of: 1)
    let steepest = zip(sound.dropFirst(), sound).map { ($0 - $1).magnitude }.max()
    #expect(steepest.map { $0 < 0.03 } == true)
    #expect(sound[4_700] == 0.9)
    #expect(abs(sound[5_500] + 0.9) < 0.001)
  }
}
