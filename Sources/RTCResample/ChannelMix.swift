/// Converts sound of 1…8 channels to one or two, within −1…1.
///
/// The order of channels is that of WAVE files: front left, front right, front centre, low frequencies, and those
/// behind or beside. More than two are mixed down as in ITU-R BS.775: centre and surround 3 dB lower, low frequencies
/// left out. As in browsers, the sum is not lowered further, so that dialogue keeps its level; excess is clipped.
struct ChannelMix {
  let inputs: Int
  let outputs: Int
  /// The weight of each input in each output; empty if the channels are the same.
  private let weights: [Float]

  /// - Parameters:
  ///   - inputs: 1…8.
  ///   - outputs: 1 or 2.
  init(inputs: Int, outputs: Int) {
    self.inputs = inputs
    self.outputs = outputs
    if inputs == outputs {
      weights = []
    } else {
      let (left, right) = Self.stereo[inputs - 1]
      weights = outputs == 2 ? left + right : zip(left, right).map { ($0 + $1) / 2 }
    }
  }

  private static let h = Float(0.5).squareRoot()

  /// Left and right for each number of inputs.
  private static let stereo: [(left: [Float], right: [Float])] = [
    ([1], [1]),
    ([1, 0], [0, 1]),
    ([1, 0, h], [0, 1, h]),
    ([h, 0, h, 0], [0, h, 0, h]),
    ([1, 0, h, h, 0], [0, 1, h, 0, h]),
    ([1, 0, h, 0, h, 0], [0, 1, h, 0, 0, h]),
    ([1, 0, h, 0, 0.5, h, 0], [0, 1, h, 0, 0.5, 0, h]),
    ([1, 0, h, 0, h, 0, h, 0], [0, 1, h, 0, 0, h, 0, h]),
  ]

  /// Appends the mixed sound to `output`.
  /// - Parameter samples: interleaved, whole samples of all inputs.
  /// - Returns: how many values were not finite or outside −1…1.
  func mix(_ samples: Span<Float>, into output: inout [Float]) -> Int {
    var repaired = 0
    if weights.isEmpty {
      for index in samples.indices { output.append(Self.sound(samples[index], &repaired)) }
      return repaired
    }
    var start = 0
    while start < samples.count {
      for channel in 0..<outputs {
        var sum: Float = 0
        for input in 0..<inputs {
          let weight = weights[channel * inputs + input]
          if weight != 0 { sum += weight * Self.sound(samples[start + input], &repaired) }
        }
        output.append(min(1, max(-1, sum)))
      }
      start += inputs
    }
    return repaired
  }

  private static func sound(_ value: Float, _ repaired: inout Int) -> Float {
    if value.magnitude <= 1 { return value }
    repaired += 1
    return value.isNaN ? 0 : value > 0 ? 1 : -1
  }
}
