import RTCMedia

/// A stretch of sound without a hole and of one format, on its way to 48 kHz and one or two channels.
final class AudioStretch {
  let format: AudioFormat
  private let mix: ChannelMix
  /// Nil when the rate is right already.
  private let resampler: AudioResampler?
  /// Samples of each channel that went in, and that came out.
  private(set) var consumed: Int64 = 0
  private var produced: Int64 = 0
  private var mixed: [Float] = []
  /// The newest input, mixed: what an end is drawn out from.
  private var history: [Float] = []

  /// - Parameter channels: 1 or 2, for the output.
  init(format: AudioFormat, channels: Int) throws(AudioResamplerError) {
    self.format = format
    mix = ChannelMix(inputs: format.channels, outputs: channels)
    resampler =
      format.sampleRate == AudioResampler.outputRate
      ? nil : try AudioResampler(inputRate: format.sampleRate, channels: channels)
  }

  /// Appends the output for `samples`.
  /// - Returns: the number of repaired values.
  func take(_ samples: Span<Float>, into output: inout [Float]) -> Int {
    mixed.removeAll(keepingCapacity: true)
    let repaired = mix.mix(samples, into: &mixed)
    consumed += Int64(mixed.count / mix.outputs)
    remember()
    let before = output.count
    if let resampler { resampler.resample(mixed.span, into: &output) } else { output.append(contentsOf: mixed) }
    produced += Int64((output.count - before) / mix.outputs)
    return repaired
  }

  /// Appends the rest to `output`, so that it is as long as the input, and an extrapolation of `fade` samples to
  /// `tail`, for the next stretch to fade from. A resampler that ended on silence would ring.
  func end(fade: Int, into output: inout [Float], tail: inout [Float]) {
    let channels = mix.outputs
    let rate = Int64(format.sampleRate)
    let total = (consumed * Int64(AudioResampler.outputRate) + rate / 2) / rate
    let rest = max(0, Int(total - produced)) * channels
    var drawnOut: [Float] = []
    extend(by: (resampler?.inputLatency ?? 0) + fade * format.sampleRate / AudioResampler.outputRate + 8, &drawnOut)
    if let resampler {
      var resampled: [Float] = []
      resampler.resample(drawnOut.span, into: &resampled)
      drawnOut = resampled
    }
    let wanted = rest + fade * channels
    if drawnOut.count < wanted { drawnOut += [Float](repeating: 0, count: wanted - drawnOut.count) }
    output.append(contentsOf: drawnOut[..<rest])
    tail.append(contentsOf: drawnOut[rest..<wanted])
    produced = total
  }

  /// Keeps at most twice the last 10 ms and a resampler's latency.
  private func remember() {
    let limit = (format.sampleRate / 100 + (resampler?.inputLatency ?? 0)) * mix.outputs
    history.append(contentsOf: mixed.suffix(limit))
    if history.count > 2 * limit { history.removeFirst(history.count - limit) }
  }

  /// Extrapolates by the history rotated by 180° about its last sample, which keeps level and slope, with decreasing
  /// weight, as a rotated wave can be twice as high.
  private func extend(by count: Int, _ output: inout [Float]) {
    let channels = mix.outputs
    let known = history.count / channels
    guard known > 0 else { return }
    var share: Float = 1
    let damping = 1 - 1000 / Float(format.sampleRate)  // over 1 ms
    for step in 1...count {
      share *= damping
      let mirrored = max(0, known - 1 - step)
      for channel in 0..<channels {
        let last = history[(known - 1) * channels + channel]
        output.append(last + share * (last - history[mirrored * channels + channel]))
      }
    }
  }
}
