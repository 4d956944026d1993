public import RTCPrimitives

/// Rate and number of channels of sound.
public struct AudioFormat: Hashable, Sendable {
  /// Samples a second of each channel, 8 000…384 000.
  public var sampleRate: Int
  /// 1…8; more than two are mixed down before they are sent.
  public var channels: Int

  /// - Parameters:
  ///   - sampleRate: samples a second of each channel.
  ///   - channels: 1 or more.
  public init(sampleRate: Int, channels: Int) {
    self.sampleRate = sampleRate
    self.channels = channels
  }

  /// The format of sent sound: Opus at its own rate.
  public static let opus = AudioFormat(sampleRate: 48_000, channels: 2)
}

/// A stretch of sound, of any length: samples of all channels in turn, −1…1.
public struct AudioFrame: Sendable {
  /// The format of the samples.
  public var format: AudioFormat
  /// Interleaved; the count is a multiple of the channels.
  public var samples: [Float]
  /// The capture time of the first sample, on the monotonic clock of video capture times.
  public var captureTime: Timestamp

  /// Makes a frame of interleaved samples; `captureTime` is that of the first, on the monotonic clock.
  public init(format: AudioFormat, samples: [Float], captureTime: Timestamp) {
    self.format = format
    self.samples = samples
    self.captureTime = captureTime
  }

  /// Samples of each channel.
  public var sampleCount: Int { samples.count / max(1, format.channels) }
  /// The duration of the sound.
  public var duration: TimeDelta {
    TimeDelta(nanoseconds: Int64(sampleCount) * 1_000_000_000 / Int64(max(1, format.sampleRate)))
  }
}

/// One Opus packet, shared by every viewer.
public struct EncodedAudioFrame: Sendable {
  /// RFC 6716 §3; never empty.
  public var data: [UInt8]
  /// The position of the first sample, in samples at 48 kHz since the track began: RTP timestamps follow from it, so
  /// they are exact to the sample. It leaps where sound was left out (silence, a pause, another source).
  public var position: Int64
  /// Samples at 48 kHz in it: 120…5760.
  public var sampleCount: Int
  /// The capture time of the first sample, on the monotonic clock: sender reports relate `position` to it.
  public var captureTime: Timestamp
  /// The first after a silence that was not sent (the RTP marker bit, RFC 7587 §4.2).
  public var startsTalkSpurt: Bool
  /// The sound level; nil if it was not measured, because the packet came from elsewhere.
  public var level: AudioLevel?

  /// One packet, as the encoder made it.
  public init(
    data: [UInt8], position: Int64, sampleCount: Int, captureTime: Timestamp, startsTalkSpurt: Bool = false,
    level: AudioLevel? = nil
  ) {
    self.data = data
    self.position = position
    self.sampleCount = sampleCount
    self.captureTime = captureTime
    self.startsTalkSpurt = startsTalkSpurt
    self.level = level
  }
}
