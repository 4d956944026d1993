import CSpeexDSP
package import RTCPrimitives

/// Converts sound of any rate to 48 kHz, with SpeexDSP. Used by one thread at a time.
///
/// The first output sample has the time of the first input sample; the output lags by `latency` only in that this much
/// input is needed first. Counts are exact: no sample is gained or lost over any length.
package final class AudioResampler {
  /// Samples a second of each channel that come out.
  package static let outputRate = 48_000
  /// Samples a second of each channel that may go in.
  package static let inputRates = 8_000...384_000

  /// Samples a second of each channel that go in; 48,000 come out.
  package let inputRate: Int
  /// Number of channels, in and out.
  package let channels: Int
  private let state: OpaquePointer
  private let scratch: UnsafeMutableBufferPointer<Float>

  /// SpeexDSP's quality, 0…10: at 7 aliases are 80 dB lower, for some 1 % of a core.
  private static let quality: Int32 = 7

  /// - Parameters:
  ///   - inputRate: samples a second, within `inputRates`.
  ///   - channels: 1 or 2.
  package init(inputRate: Int, channels: Int) throws(AudioResamplerError) {
    guard Self.inputRates.contains(inputRate) else { throw .unsupportedRate(inputRate) }
    guard (1...2).contains(channels) else { throw .unsupportedChannels(channels) }
    var status: Int32 = 0
    let state = speex_resampler_init(
      UInt32(channels), UInt32(inputRate), UInt32(Self.outputRate), Self.quality, &status)
    guard let state else {
      throw .library(status: Int(status), message: String(cString: speex_resampler_strerror(status)))
    }
    speex_resampler_skip_zeros(state)
    self.inputRate = inputRate
    self.channels = channels
    self.state = state
    scratch = .allocate(capacity: 4096)
  }

  deinit {
    speex_resampler_destroy(state)
    scratch.deallocate()
  }

  /// The duration of sound that goes in before the first comes out, for tests.
  package var latency: TimeDelta {
    TimeDelta(nanoseconds: Int64(inputLatency) * 1_000_000_000 / Int64(inputRate))
  }

  /// The latency in samples of each channel at the input rate.
  package var inputLatency: Int { Int(speex_resampler_get_input_latency(state)) }

  /// Appends to `output` the samples that follow from `samples` and earlier ones.
  /// - Parameter samples: interleaved; an incomplete last sample is left out.
  package func resample(_ samples: Span<Float>, into output: inout [Float]) {
    samples.withUnsafeBufferPointer { input in
      var position = 0
      let count = input.count / channels
      while position < count {
        var taken = UInt32(clamping: count - position)
        var made = UInt32(scratch.count / channels)
        let status = speex_resampler_process_interleaved_float(
          state, input.baseAddress! + position * channels, &taken, scratch.baseAddress!, &made)
        // It fails for null or overlapping arguments only.
        guard status == Int32(RESAMPLER_ERR_SUCCESS), taken > 0 || made > 0 else { return }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: scratch[..<(Int(made) * channels)]))
        position += Int(taken)
      }
    }
  }
}

/// Why a resampler could not be made.
package enum AudioResamplerError: Error, Hashable, Sendable {
  /// Outside of `AudioResampler.inputRates`.
  case unsupportedRate(Int)
  /// The number is neither 1 nor 2.
  case unsupportedChannels(Int)
  /// The library refused; its status code and its own words.
  case library(status: Int, message: String)
}
