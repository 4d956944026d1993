internal import CFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// Decoded sound as it waits to be delivered.
struct SoundPiece {
  var format: AudioFormat
  var samples: [Float]
  /// The first sample's, on the media timeline.
  var time: TimeDelta

  var sampleCount: Int { samples.count / format.channels }
  var duration: TimeDelta { Self.duration(sampleCount, at: format.sampleRate) }
  var end: TimeDelta { time + duration }

  static func duration(_ samples: Int, at rate: Int) -> TimeDelta {
    TimeDelta(nanoseconds: Int64(samples) * 1_000_000_000 / Int64(rate))
  }

  /// Leaves out what is before `floor`; false when nothing is left.
  mutating func drop(before floor: TimeDelta) -> Bool {
    guard time < floor else { return true }
    let cut = Int(Double(format.sampleRate) * (floor - time).seconds)
    guard cut < sampleCount else { return false }
    removeFirst(cut)
    return true
  }

  /// Takes the first `count` samples of each channel off.
  mutating func removeFirst(_ count: Int) {
    samples.removeFirst(count * format.channels)
    time = time + Self.duration(count, at: format.sampleRate)
  }
}

/// Turns decoded sound of any format into floats in turn, of one or two channels at the file's own rate. Used by one
/// thread.
final class SoundConverter {
  private struct Key: Equatable {
    var format: Int32
    var rate: Int32
    var channels: Int32
    var mask: UInt64
  }

  private var key: Key?
  private var context: OpaquePointer?
  private var output = AudioFormat.opus

  deinit { swr_free(&context) }

  /// The format to which sound of `source` is converted. Rates that no sound card has are brought to one that all have.
  static func format(of source: AudioFormat) -> AudioFormat {
    AudioFormat(
      sampleRate: (8_000...384_000).contains(source.sampleRate) ? source.sampleRate : 48_000,
      channels: source.channels == 1 ? 1 : 2)
  }

  func samples(of frame: UnsafeMutablePointer<AVFrame>) -> (AudioFormat, [Float])? {
    let source = frame.pointee
    let channels = source.ch_layout.nb_channels
    guard source.nb_samples > 0, channels > 0, source.sample_rate > 0 else { return nil }
    let mask = source.ch_layout.order == AV_CHANNEL_ORDER_NATIVE ? source.ch_layout.u.mask : 0
    let key = Key(format: source.format, rate: source.sample_rate, channels: channels, mask: mask)
    if key != self.key {
      guard configure(key, frame) else { return nil }
      self.key = key
    }
    return convert(frame)
  }

  private func configure(_ key: Key, _ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
    swr_free(&context)
    self.key = nil
    output = Self.format(of: AudioFormat(sampleRate: Int(key.rate), channels: Int(key.channels)))
    let rate = output.sampleRate
    var from = AVChannelLayout()
    var to = AVChannelLayout()
    av_channel_layout_default(&to, Int32(output.channels))
    if key.mask == 0 {
      av_channel_layout_default(&from, key.channels)
    } else {
      av_channel_layout_from_mask(&from, key.mask)
    }
    let status = swr_alloc_set_opts2(
      &context, &to, AV_SAMPLE_FMT_FLT, Int32(rate), &from, AVSampleFormat(rawValue: key.format), key.rate, 0, nil)
    // The sum of several channels must stay within 1: floats can exceed it, and would be cut off when they become integers.
    guard status >= 0, let context, av_opt_set_int(UnsafeMutableRawPointer(context), "rematrix_maxval", 1, 0) >= 0
    else {
      return false
    }
    return swr_init(context) >= 0
  }

  private func convert(_ frame: UnsafeMutablePointer<AVFrame>) -> (AudioFormat, [Float])? {
    let room = swr_get_out_samples(context, frame.pointee.nb_samples)
    guard room > 0, room < 1 << 24 else { return nil }
    var written: Int32 = 0
    let channels = output.channels
    var samples = [Float](unsafeUninitializedCapacity: Int(room) * channels) { buffer, count in
      buffer.initialize(repeating: 0)
      count = buffer.count
      buffer.withMemoryRebound(to: UInt8.self) { bytes in
        var target: UnsafeMutablePointer<UInt8>? = bytes.baseAddress
        let input = UnsafeMutableRawPointer(frame.pointee.extended_data)!
          .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        written = swr_convert(context, &target, room, input, frame.pointee.nb_samples)
      }
    }
    guard written > 0 else { return nil }
    samples.removeLast(samples.count - Int(written) * channels)
    for index in samples.indices {
      let sample = samples[index]
      // A damaged float file may hold anything.
      samples[index] = sample.isNaN ? 0 : min(1, max(-1, sample))
    }
    return (output, samples)
  }
}
