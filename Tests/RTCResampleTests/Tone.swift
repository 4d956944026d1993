import Glibc
import RTCMedia
import RTCPrimitives
import RTCResample

/// A sine of one pitch, made and measured.
struct Tone {
  var frequency: Double
  var amplitude = 0.5

  /// From sample `start` on at `rate`, the same in every channel.
  func samples(_ range: Range<Int>, rate: Int, channels: Int = 1) -> [Float] {
    range.flatMap { index in
      repeatElement(Float(amplitude * sin(2 * .pi * frequency * Double(index) / Double(rate))), count: channels)
    }
  }

  func frame(_ range: Range<Int>, rate: Int, channels: Int = 1, from origin: Timestamp = .zero) -> AudioFrame {
    AudioFrame(
      format: AudioFormat(sampleRate: rate, channels: channels),
      samples: samples(range, rate: rate, channels: channels),
      captureTime: origin + TimeDelta(nanoseconds: Int64(range.lowerBound) * 1_000_000_000 / Int64(rate)))
  }

  struct Fit {
    var amplitude: Double
    /// The phase of the first sample, in radians.
    var phase: Double
    /// Decibels of this tone over all else.
    var signalToNoise: Double
  }

  /// The sine of this pitch that fits 48 kHz samples best, by least squares over whole periods.
  func fit(_ samples: some Collection<Float>) -> Fit {
    let period = 48_000 / frequency
    let count = Int((Double(samples.count) / period).rounded(.down) * period)
    var (sine, cosine, power) = (0.0, 0.0, 0.0)
    for (index, value) in samples.prefix(count).enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / 48_000
      sine += Double(value) * sin(angle)
      cosine += Double(value) * cos(angle)
      power += Double(value) * Double(value)
    }
    (sine, cosine) = (sine * 2 / Double(count), cosine * 2 / Double(count))
    let signal = (sine * sine + cosine * cosine) / 2
    let noise = max(power / Double(count) - signal, 1e-20)
    return Fit(
      amplitude: (2 * signal).squareRoot(), phase: atan2(cosine, sine), signalToNoise: 10 * log10(signal / noise))
  }
}

/// The blocks that a framer delivered.
struct Blocks {
  var all: [AudioBlock] = []

  func channel(_ channel: Int, of channels: Int) -> [Float] {
    all.flatMap { block in stride(from: channel, to: block.samples.count, by: channels).map { block.samples[$0] } }
  }
}

extension AudioFramer {
  func blocks(of frames: [AudioFrame], finishing: Bool = false) -> Blocks {
    var blocks = Blocks()
    for frame in frames { consume(frame) { blocks.all.append($0) } }
    if finishing { finish { blocks.all.append($0) } }
    return blocks
  }
}
