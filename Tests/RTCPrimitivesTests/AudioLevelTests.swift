import RTCMedia
import RTCPrimitives
import Testing

@Suite struct AudioLevels {
  @Test(arguments: [
    (1.0, 0), (0.5, 6), (0.1, 20), (0.01, 40), (0.001, 60), (0.000_01, 100), (0.000_000_1, 127), (0, 127),
  ]) func `a level is the root mean square below a square wave of full height (RFC 6464 §3)`(
    _ height: Double, _ attenuation: Int
  ) {
    let samples = (0..<960).map { $0 % 2 == 0 ? Float(height) : -Float(height) }
    #expect(AudioLevel(samples).attenuation == UInt8(attenuation))
  }

  @Test func `what overshoots is loudest, and what is no number is silence`() {
    #expect(AudioLevel([4, -4]).attenuation == 0)
    #expect(AudioLevel([.infinity, .nan, -.infinity]) == .silence)
    #expect(AudioLevel([]) == .silence)
    #expect(AudioLevel([.greatestFiniteMagnitude, 1]).attenuation == 0)
    #expect(AudioLevel(attenuation: 255) == .silence)
  }

  @Test func `a linear level is what W3C's audioLevel is`() {
    #expect(AudioLevel(attenuation: 0).linear == 1 && AudioLevel.silence.linear == 0)
    #expect(abs(AudioLevel(attenuation: 20).linear - 0.1) < 1e-6)
    #expect(AudioLevel(attenuation: 59).isHeard && !AudioLevel(attenuation: 60).isHeard)
  }
}
