/// Reads sound between its samples: a windowed sinc of 32 taps in 256 phases, interpolated between them.
struct FractionalDelayFilter: Sendable {
  /// Samples needed on either side of the place that is read.
  static let halfLength = 16
  private static let length = 2 * halfLength
  private static let phases = 256

  static let shared = FractionalDelayFilter()

  /// `phases + 1` rows of `length` taps.
  private let taps: [Float]

  /// Samples needed from the current one on to read `count` at any ratio up to 1.001.
  static func reach(_ count: Int) -> Int { count + count / 1_000 + 2 + halfLength }

  private init() {
    var taps: [Float] = []
    taps.reserveCapacity((Self.phases + 1) * Self.length)
    for phase in 0...Self.phases {
      let fraction = Double(phase) / Double(Self.phases)
      let row = (0..<Self.length).map { tap in
        Self.value(at: Double(tap - Self.halfLength + 1) - fraction)
      }
      let sum = row.reduce(0, +)  // so that a constant stays constant
      taps += row.map { Float($0 / sum) }
    }
    self.taps = taps
  }

  /// Sinc under a Blackman window, at `x` samples from the middle.
  private static func value(at x: Double) -> Double {
    let half = Double(halfLength)
    guard abs(x) < half else { return 0 }
    let window = 0.42 + 0.5 * cosine(x / half) + 0.08 * cosine(2 * x / half)
    return abs(x) < 1e-9 ? 1 : window * cosine(x - 0.5) / (.pi * x)
  }

  /// The cosine of `halfTurns` · π.
  private static func cosine(_ halfTurns: Double) -> Double {
    var turns = halfTurns - 2 * (halfTurns / 2).rounded()  // −1…1
    var sign = 1.0
    if abs(turns) > 0.5 {
      turns = (turns < 0 ? -1 : 1) - turns
      sign = -1
    }
    let square = turns * turns * .pi * .pi
    var term = 1.0
    var sum = 1.0
    for step in 1...10 {
      term *= -square / Double((2 * step - 1) * 2 * step)
      sum += term
    }
    return sign * sum
  }

  /// Appends `count` samples of each channel, read from `start` + `fraction` on, each `ratio` after the other.
  /// - Returns: where the next would be read.
  func read(
    _ samples: Span<Float>, channels: Int, from start: Int, fraction: Double, ratio: Double, count: Int,
    into output: inout [Float]
  ) -> (Int, Double) {
    var place = start
    var fraction = fraction
    for _ in 0..<count {
      let phase = fraction * Double(Self.phases)
      let row = Int(phase)
      let between = Float(phase - Double(row))
      for channel in 0..<channels {
        var sum: Float = 0
        var index = (place - Self.halfLength + 1) * channels + channel
        var tap = row * Self.length
        for _ in 0..<Self.length {
          let weight = taps[tap] + between * (taps[tap + Self.length] - taps[tap])
          sum += samples[index] * weight
          index += channels
          tap += 1
        }
        output.append(sum)
      }
      fraction += ratio
      while fraction >= 1 {
        fraction -= 1
        place += 1
      }
    }
    return (place, fraction)
  }
}
