import Glibc

/// Tones made and measured.
enum Tone {
  /// One channel at 48 kHz.
  static func samples(_ frequency: Double, count: Int, from first: Int = 0, amplitude: Double = 0.25) -> [Float] {
    (first..<first + count).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)) }
  }

  /// Interleaved.
  static func stereo(_ left: [Float], _ right: [Float]) -> [Float] { zip(left, right).flatMap { [$0, $1] } }

  /// The amplitude of the part at `frequency`, by Goertzel's recurrence.
  static func level(_ samples: [Float], at frequency: Double) -> Double {
    let step = 2 * cos(2 * .pi * frequency / 48_000)
    var (last, before) = (0.0, 0.0)
    for sample in samples { (last, before) = (Double(sample) + step * last - before, last) }
    let power = last * last + before * before - step * last * before
    return 2 * max(0, power).squareRoot() / Double(samples.count)
  }

  /// Root mean square.
  static func loudness(_ samples: [Float]) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))).squareRoot()
  }
}

extension [Float] {
  /// Every second sample: one channel of two.
  func channel(_ index: Int) -> [Float] { stride(from: index, to: count, by: 2).map { self[$0] } }
}
