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

  /// What is sent: Opus at its own rate.
  public static let opus = AudioFormat(sampleRate: 48_000, channels: 2)
}

/// A stretch of sound, of any length: samples of all channels in turn, −1…1.
public struct AudioFrame: Sendable {
  /// Of the samples.
  public var format: AudioFormat
  /// Interleaved; the count is a multiple of the channels.
  public var samples: [Float]
  /// When the first sample was heard, on the monotonic clock that video capture times are on.
  public var captureTime: Timestamp

  /// Interleaved samples, whose first was heard at `captureTime` of the monotonic clock.
  public init(format: AudioFormat, samples: [Float], captureTime: Timestamp) {
    self.format = format
    self.samples = samples
    self.captureTime = captureTime
  }

  /// Samples of each channel.
  public var sampleCount: Int { samples.count / max(1, format.channels) }
  /// How long it is heard.
  public var duration: TimeDelta {
    TimeDelta(nanoseconds: Int64(sampleCount) * 1_000_000_000 / Int64(max(1, format.sampleRate)))
  }
}

/// One Opus packet, shared by every viewer.
public struct EncodedAudioFrame: Sendable {
  /// RFC 6716 §3; never empty.
  public var data: [UInt8]
  /// Where its first sample stands, in samples at 48 kHz since the track began: RTP timestamps follow from it, so that
  /// they are exact to the sample. Leaps where sound was left out (silence, a pause, another source).
  public var position: Int64
  /// Samples at 48 kHz in it: 120…5760.
  public var sampleCount: Int
  /// When the first sample was heard, on the monotonic clock: sender reports tie `position` to it.
  public var captureTime: Timestamp
  /// The first after a silence that was not sent (the RTP marker bit, RFC 7587 §4.2).
  public var startsTalkSpurt: Bool
  /// Nil when nobody has looked: the packet came from elsewhere.
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
