internal import RTCMedia
internal import RTCPrimitives

/// Plays sound faster or slower at its own pitch: overlaps stretches of it, each taken where it fits best what came
/// before (WSOLA, Verhelst and Roelands 1993). Used by one thread.
struct SoundStretcher {
  private var format: AudioFormat?
  private var speed = 1.0
  /// The samples that are still needed, and the media time of the first of them.
  private var input: [Float] = []
  private var inputTime = TimeDelta.zero
  /// The start of the next stretch in samples of `input`, and the place where the last stretch would go on by itself.
  private var nominal = 0.0
  private var natural = 0
  /// The end of the last stretch, faded out against the start of the next.
  private var hasTail = false

  /// The sound that is ready after `piece` was added; at speed 1 the piece itself.
  mutating func stretch(_ piece: SoundPiece, by speed: Double) -> [SoundPiece] {
    guard speed != 1 else {
      reset()
      return [piece]
    }
    let inputEnd = inputTime + SoundPiece.duration(sampleCount, at: max(1, format?.sampleRate ?? 1))
    let isJoined = abs((piece.time - inputEnd).nanoseconds) < 20_000_000
    if format != piece.format || self.speed != speed || !isJoined {
      reset()
      format = piece.format
      self.speed = speed
      inputTime = piece.time
    }
    input += piece.samples
    return drain(piece.format)
  }

  private var sampleCount: Int { input.count / max(1, format?.channels ?? 1) }

  private mutating func reset() {
    input.removeAll(keepingCapacity: true)
    format = nil
    nominal = 0
    natural = 0
    hasTail = false
  }

  private mutating func drain(_ format: AudioFormat) -> [SoundPiece] {
    // 15 ms overlap half of each 30 ms stretch; the fit is looked for 8 ms either way.
    let half = format.sampleRate * 15 / 1000
    let reach = format.sampleRate * 8 / 1000
    let channels = format.channels
    var result: [SoundPiece] = []
    while Int(nominal) + reach + 2 * half <= sampleCount, natural + half <= sampleCount {
      let start = hasTail ? bestStart(half, reach, channels) : Int(nominal)
      let time = inputTime + SoundPiece.duration(Int(nominal), at: format.sampleRate)
      result.append(SoundPiece(format: format, samples: overlap(start, half, channels), time: time))
      natural = start + half
      hasTail = true
      nominal += Double(half) * speed
      forget(before: min(natural, max(0, Int(nominal) - reach)), channels)
    }
    return result
  }

  /// The last stretch's second half fades out while this one's first half fades in.
  private func overlap(_ start: Int, _ half: Int, _ channels: Int) -> [Float] {
    guard hasTail else { return Array(input[(start * channels)..<((start + half) * channels)]) }
    return (0..<(half * channels)).map { index in
      let weight = Float(index / channels) / Float(half)
      return input[natural * channels + index] * (1 - weight) + input[start * channels + index] * weight
    }
  }

  /// The place near the nominal one where the sound is most like what would come by itself.
  private func bestStart(_ half: Int, _ reach: Int, _ channels: Int) -> Int {
    let around = max(0, Int(nominal) - reach)...(Int(nominal) + reach)
    let coarse = best(stride(from: around.lowerBound, through: around.upperBound, by: 8), half, channels, step: 8)
    let fine = max(around.lowerBound, coarse - 8)...min(around.upperBound, coarse + 8)
    return best(stride(from: fine.lowerBound, through: fine.upperBound, by: 1), half, channels, step: 4)
  }

  private func best(_ starts: StrideThrough<Int>, _ half: Int, _ channels: Int, step: Int) -> Int {
    var best = (start: Int(nominal), score: -Float.infinity)
    for start in starts {
      var product: Float = 0
      var energy: Float = 1e-9
      for offset in stride(from: 0, to: half, by: step) {
        let sample = input[(start + offset) * channels]
        product += sample * input[(natural + offset) * channels]
        energy += sample * sample
      }
      let score = product / energy.squareRoot()
      if score > best.score { best = (start, score) }
    }
    return best.start
  }

  private mutating func forget(before count: Int, _ channels: Int) {
    guard count > 0, let format else { return }
    let dropped = min(count, sampleCount)
    input.removeFirst(dropped * channels)
    inputTime = inputTime + SoundPiece.duration(dropped, at: format.sampleRate)
    nominal -= Double(dropped)
    natural -= dropped
  }
}
