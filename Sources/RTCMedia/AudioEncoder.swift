/// The settings of an Opus encoder (terms of RFC 7587).
public struct AudioEncoderSettings: Hashable, Sendable {
  /// The kind of sound that the encoder is tuned for.
  public enum Application: Hashable, Sendable {
    /// Anything: music, films, the sounds of a desktop.
    case audio
    /// A voice.
    case voice
  }

  /// 1 or 2.
  public var channels = 2
  /// Milliseconds of sound in a packet: 10, 20, 40 or 60.
  public var frameMilliseconds = 20
  /// Bits a second, 6 000…510 000.
  public var bitrate = 96_000
  /// The kind of sound, for the encoder's decisions.
  public var application = Application.audio
  /// Whether almost nothing is sent during silence (DTX).
  public var usesDiscontinuousTransmission = true
  /// Put a coarse copy of each packet into the next one; takes effect while `expectedLoss` is above 0.
  public var usesForwardErrorCorrection = true
  /// 0…1: the packet loss the receivers report.
  public var expectedLoss = 0.0
  /// Whether two channels are coded as one; the input still has `channels`.
  public var codesMono = false
  /// Samples a second that remote peers can play at most, 8 000…48 000: what only a higher rate has room for is left out.
  public var maximumSampleRate = 48_000
  /// Packets of one size instead of as large as the sound needs.
  public var isConstantBitrate = false
  /// 0 (cheapest)…10.
  public var complexity = 5

  /// The settings of a desktop cast: stereo sound of every kind.
  public init() {}
}

/// Turns exact frames of 48 kHz sound into Opus packets. Used by one thread at a time.
public protocol AudioEncoder: AnyObject {
  /// The present settings.
  var settings: AudioEncoderSettings { get }

  /// Changes any setting between two frames.
  func reconfigure(_ settings: AudioEncoderSettings) throws(AudioEncoderError)

  /// Codes one frame of `settings.frameMilliseconds` at 48 kHz, interleaved.
  /// - Returns: nil when it is silence that need not be sent.
  func encode(_ samples: [Float]) throws(AudioEncoderError) -> [UInt8]?
}

/// Makes an audio encoder.
public typealias AudioEncoderFactory = @Sendable (AudioEncoderSettings) throws(AudioEncoderError) -> any AudioEncoder

/// Why an audio encoder refused.
public enum AudioEncoderError: Error, Hashable, Sendable {
  /// Not a whole frame.
  case wrongSampleCount(expected: Int, got: Int)
  /// The sentence names the setting and its range.
  case unsupportedSettings(String)
  /// The library refused; its status code and its own words.
  case library(status: Int, message: String)
}
