import CSpeexDSP
package import RTCPrimitives

/// Turns sound of any rate into sound of 48 kHz, by SpeexDSP. Used by one thread at a time.
///
/// The first sample that comes out was heard when the first that went in was; what comes out lags by `latency` only in
/// that so much must have gone in first. Between them counts are exact: no sample is gained or lost over any length.
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

  /// Of SpeexDSP's 0…10: aliases lie 80 dB below, for some 1 % of a core.
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

  /// How much sound must have gone in before the first comes out.
  package var latency: TimeDelta {
    TimeDelta(nanoseconds: Int64(inputLatency) * 1_000_000_000 / Int64(inputRate))
  }

  /// The same in samples of each channel at the rate that goes in.
  package var inputLatency: Int { Int(speex_resampler_get_input_latency(state)) }

  /// Appends to `output` what can be told from `samples` and those before.
  /// - Parameter samples: interleaved; a rest that is no whole sample of all channels is left out.
  package func resample(_ samples: Span<Float>, into output: inout [Float]) {
    samples.withUnsafeBufferPointer { input in
      var position = 0
      let count = input.count / channels
      while position < count {
        var taken = UInt32(clamping: count - position)
        var made = UInt32(scratch.count / channels)
        let status = speex_resampler_process_interleaved_float(
          state, input.baseAddress! + position * channels, &taken, scratch.baseAddress!, &made)
        // It fails for arguments that are null or overlap, and for no others.
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
  /// Neither 1 nor 2.
  case unsupportedChannels(Int)
  /// The library refused; its status code and its own words.
  case library(status: Int, message: String)
}
