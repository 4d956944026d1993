/// How loud a stretch of sound is: its root mean square below the loudest there is, a square wave of full height, in whole
/// decibels (RFC 6464 §3, RFC 6465 appendix A).
public struct AudioLevel: Hashable, Sendable, BitwiseCopyable {
  /// The least level that RFC 6464 can say.
  public static let silence = AudioLevel(attenuation: 127)

  /// 0 (loudest)…126; 127 is silence.
  public let attenuation: UInt8

  /// - Parameter attenuation: dB below the loudest; more than 127 become 127.
  public init(attenuation: UInt8) { self.attenuation = min(attenuation, 127) }

  /// The level of samples between -1 and 1, of all channels together. NaN counts as silence.
  public init(_ samples: [Float]) {
    var sum: Float = 0
    for sample in samples where sample.isFinite { sum += sample * sample }
    self.init(power: samples.isEmpty ? 0 : sum / Float(samples.count))
  }

  private init(power: Float) {
    var attenuation: UInt8 = 0
    // Half a decibel below each whole one, so that what lies between is rounded.
    var threshold: Float = 0.891_250_94
    while attenuation < 127, !(power >= threshold) {
      attenuation += 1
      threshold *= 0.794_328_23
    }
    self.init(attenuation: attenuation)
  }

  /// Whether the sound is audible: louder than -60 dBov, the level of a quiet room. Voice is not distinguished.
  public var isHeard: Bool { attenuation < 60 }

  /// 0 (silence)…1, linear, as W3C's `audioLevel` counts.
  public var linear: Double {
    guard attenuation < 127 else { return 0 }
    var result = 1.0
    for _ in 0..<attenuation { result *= 0.891_250_938_133_745_5 }
    return result
  }
}
