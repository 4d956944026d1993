import RTCMedia
import RTCResample
import Testing

@Suite struct PitchTests {
  @Test(arguments: [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 47_999, 48_000, 88_200, 96_000, 192_000, 384_000])
  func `a tone of any rate keeps its pitch, level and time, and nothing is added`(rate: Int) {
    let tone = Tone(frequency: 1_000)
    let framer = AudioFramer(channels: 1)
    let sound = framer.blocks(of: [tone.frame(0..<rate * 2, rate: rate)]).channel(0, of: 1)
    let fit = tone.fit(sound[9_600..<57_600])
    #expect(fit.signalToNoise > 70)
    #expect((0.498...0.502).contains(fit.amplitude))
    // 9600 samples are whole periods: a phase of 0.01 is 1.6 µs.
    #expect(abs(fit.phase) < 0.01)
  }

  @Test func `what cannot be heard at 48 kHz does not come back as another pitch`() {
    let framer = AudioFramer(channels: 1)
    let tone = Tone(frequency: 30_000)
    let sound = framer.blocks(of: [tone.frame(0..<192_000, rate: 96_000)]).channel(0, of: 1)
    #expect(sound[4_800..<90_000].allSatisfy { abs($0) < 0.001 })
  }

  @Test func `the lag of a resampler is said`() throws {
    let resampler = try AudioResampler(inputRate: 44_100, channels: 1)
    #expect((1...5).contains(resampler.latency.milliseconds))
    var out: [Float] = []
    resampler.resample(Tone(frequency: 440).samples(0..<44_100, rate: 44_100).span, into: &out)
    let held = 48_000 - out.count
    #expect(abs(held - Int(resampler.latency.nanoseconds * 48 / 1_000_000)) <= 2)
  }

  @Test(arguments: [0, 7_999, 384_001, -1]) func `a rate out of range is refused`(rate: Int) {
    #expect(throws: AudioResamplerError.unsupportedRate(rate)) { try AudioResampler(inputRate: rate, channels: 2) }
  }
}
