import RTCMedia
import Testing

@Suite struct SoundLevels {
  @Test(arguments: [
    (1.0, 0), (0.5, 6), (0.1, 20), (0.01, 40), (0.001, 60), (0.000_01, 100), (0.000_000_1, 127), (0, 127),
  ]) func `a level is the root mean square below a square wave of full height (RFC 6464 §3)`(
    _ height: Double, _ attenuation: Int
  ) {
    let samples = (0..<960).map { $0 % 2 == 0 ? Float(height) : -Float(height) }
    #expect(SoundLevel(samples).attenuation == UInt8(attenuation))
  }

  @Test func `what overshoots is loudest, and what is no number is silence`() {
    #expect(SoundLevel([4, -4]).attenuation == 0)
    #expect(SoundLevel([.infinity, .nan, -.infinity]) == .silence)
    #expect(SoundLevel([]) == .silence)
    #expect(SoundLevel([.greatestFiniteMagnitude, 1]).attenuation == 0)
    #expect(SoundLevel(attenuation: 255) == .silence)
  }

  @Test func `a linear level is what W3C's audioLevel is`() {
    #expect(SoundLevel(attenuation: 0).linear == 1 && SoundLevel.silence.linear == 0)
    #expect(abs(SoundLevel(attenuation: 20).linear - 0.1) < 1e-6)
    #expect(SoundLevel(attenuation: 59).isHeard && !SoundLevel(attenuation: 60).isHeard)
  }
}
