import RTCMedia
import RTCPrimitives
import RTCResample
import Testing

@Suite struct BadSoundTests {
  private func frame(_ samples: [Float], rate: Int = 48_000, channels: Int = 1) -> AudioFrame {
    AudioFrame(
      format: AudioFormat(sampleRate: rate, channels: channels), samples: samples, captureTime: .zero)
  }

  @Test(arguments: [48_000, 44_100]) func `what is no number or too loud is repaired and counted`(rate: Int) {
    let framer = AudioFramer()
    let bad: [Float] = [.nan, .infinity, -.infinity, 1e30, -1e30, .signalingNaN, 1.5, -7]
    let samples = (0..<rate / 10).map { bad[$0 % bad.count] }
    let blocks = framer.blocks(of: [frame(samples, rate: rate)])
    #expect(!blocks.all.isEmpty)
    #expect(blocks.all.allSatisfy { $0.samples.allSatisfy { $0.magnitude <= 1 } })
    #expect(framer.counters.repairedSamples >= rate / 10)
  }

  @Test(
    arguments: [
      ([], 48_000, 2), ([0.5], 48_000, 2), ([0.5, 0.5, 0.5], 48_000, 2), ([0.5], 48_000, 0), ([0.5], 48_000, -1),
      ([Float](repeating: 0, count: 9), 48_000, 9), ([0.5], 0, 1), ([0.5], -48_000, 1), ([0.5], 7_999, 1),
      ([0.5], Int.max, 1),
    ] as [([Float], Int, Int)]) func `a frame that makes no sense is left out and counted`(
      samples: [Float], rate: Int, channels: Int
    )
  {
    let framer = AudioFramer()
    let blocks = framer.blocks(of: [frame(samples, rate: rate, channels: channels)], finishing: true)
    #expect(blocks.all.isEmpty)
    #expect(framer.counters.ignoredFrames == 1)
  }

  @Test(arguments: 1...8) func `any number of channels is heard on both sides, without overflow`(channels: Int) {
    let framer = AudioFramer()
    let samples = [Float](repeating: 1, count: 4_800 * channels)
    let sound = framer.blocks(of: [frame(samples, channels: channels)])
    #expect(sound.channel(0, of: 2)[1_000..<4_800].allSatisfy { $0 == 1 })
    #expect(sound.channel(1, of: 2)[1_000..<4_800].allSatisfy { $0 == 1 })
  }

  @Test func `surround sound is mixed down as BS 775 says`() {
    // Left, right, centre, low frequencies, left and right behind.
    let levels: [(Int, left: Float, right: Float)] = [
      (0, 0.5, 0), (1, 0, 0.5), (2, 0.35355, 0.35355), (3, 0, 0), (4, 0.35355, 0), (5, 0, 0.35355),
    ]
    for (channel, left, right) in levels {
      let samples = (0..<4_800).flatMap { _ in (0..<6).map { $0 == channel ? 0.5 : 0 as Float } }
      let sound = AudioFramer().blocks(of: [frame(samples, channels: 6)])
      #expect(abs(sound.channel(0, of: 2)[2_000] - left) < 1e-4)
      #expect(abs(sound.channel(1, of: 2)[2_000] - right) < 1e-4)
      let one = AudioFramer(channels: 1).blocks(of: [frame(samples, channels: 6)])
      #expect(abs(one.channel(0, of: 1)[2_000] - (left + right) / 2) < 1e-4)
    }
  }
}
