/// Removes or repeats one period of the sound, with a crossfade between similar parts: the pitch is unchanged and the
/// cut is inaudible.
struct SoundSplice {
  enum Kind {
    case leaveOut
    case repeatOnce
  }

  /// 2.5…15 ms: pitches from 67 Hz on, and multiples of the periods of higher ones.
  static let shortestPeriod = 120
  static let longestPeriod = 720
  /// The mean square below which sound is inaudible: −66 dB.
  private static let silence: Float = 2.5e-7

  let channels: Int
  /// How alike both pieces must be, −1…1.
  let minimumLikeness: Float
  /// No longer period is taken.
  let longest: Int

  /// Changes `samples` (interleaved) at `splice`, counted in samples of each channel.
  /// - Returns: the number of samples of each channel removed; negative if repeated; 0 if there is no good place.
  func apply(_ kind: Kind, at splice: Int, in samples: inout [Float]) -> Int {
    let room = samples.count / channels - splice
    switch kind {
    case .leaveOut:
      // Two periods from the splice on become one.
      guard let period = period(in: samples, first: splice, longest: room / 2) else { return 0 }
      fade(&samples, from: splice, to: splice + period, at: splice, count: period)
      let start = (splice + period) * channels
      samples.removeSubrange(start..<(start + period * channels))
      return period
    case .repeatOnce:
      // Crossfades from the following sound to the one just before, and the sound then continues after it.
      guard let period = period(in: samples, before: splice, longest: min(room, splice)) else { return 0 }
      var piece = Array(samples[((splice - period) * channels)..<((splice + period) * channels)])
      fade(&piece, from: period, to: 0, at: 0, count: period)
      samples.insert(contentsOf: piece[..<(period * channels)], at: splice * channels)
      return -period
    }
  }

  /// Fades from the sound at `from` to that at `to`, writing at `place`.
  private func fade(_ samples: inout [Float], from: Int, to: Int, at place: Int, count: Int) {
    for index in 0..<count {
      let weight = (Float(index) + 0.5) / Float(count)
      for channel in 0..<channels {
        let a = samples[(from + index) * channels + channel]
        let b = samples[(to + index) * channels + channel]
        samples[(place + index) * channels + channel] = a * (1 - weight) + b * weight
      }
    }
  }

  private func period(in samples: [Float], first: Int, longest: Int) -> Int? {
    let longest = min(longest, self.longest, Self.longestPeriod)
    guard longest >= Self.shortestPeriod else { return nil }
    let mono = mixed(samples, first, 2 * longest)
    return bestPeriod(longest) { period, step in likeness(mono, 0, period, period, step) }
  }

  private func period(in samples: [Float], before splice: Int, longest: Int) -> Int? {
    let longest = min(longest, self.longest, Self.longestPeriod)
    guard longest >= Self.shortestPeriod else { return nil }
    let mono = mixed(samples, splice - longest, 2 * longest)
    return bestPeriod(longest) { period, step in likeness(mono, longest - period, longest, period, step) }
  }

  /// The longest of the periods that fit nearly best.
  private func bestPeriod(_ longest: Int, _ likeness: (_ period: Int, _ step: Int) -> Float) -> Int? {
    let coarse = stride(from: Self.shortestPeriod, through: longest, by: 4).map { ($0, likeness($0, 4)) }
    guard let best = coarse.map(\.1).max(),
      let near = coarse.last(where: { $0.1 >= best - 0.02 })?.0
    else { return nil }
    let fine = (max(Self.shortestPeriod, near - 4)...min(longest, near + 4)).map { ($0, likeness($0, 1)) }
    guard let found = fine.max(by: { $0.1 < $1.1 }), found.1 >= minimumLikeness else { return nil }
    return found.0
  }

  /// The normalised correlation of two pieces; 1 if both are silent.
  private func likeness(_ mono: [Float], _ a: Int, _ b: Int, _ count: Int, _ step: Int) -> Float {
    var product: Float = 0
    var energyA: Float = 0
    var energyB: Float = 0
    for index in stride(from: 0, to: count, by: step) {
      let x = mono[a + index]
      let y = mono[b + index]
      product += x * y
      energyA += x * x
      energyB += y * y
    }
    let threshold = Self.silence * Float(count / step)
    if energyA < threshold, energyB < threshold { return 1 }
    return product / max(1e-12, (energyA * energyB).squareRoot())
  }

  private func mixed(_ samples: [Float], _ start: Int, _ count: Int) -> [Float] {
    guard channels > 1 else { return Array(samples[start..<(start + count)]) }
    return (start..<(start + count)).map { place in
      var sum: Float = 0
      for channel in 0..<channels { sum += samples[place * channels + channel] }
      return sum / Float(channels)
    }
  }
}
