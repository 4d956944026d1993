public import RTCMedia
public import RTCWire

/// The Opus parameters in a listener's description (RFC 7587 §6.1); nil if they are absent.
public struct OpusPreferences: Hashable, Sendable {
  /// `maxaveragebitrate`: bits a second, 6 000…510 000.
  public var maximumBitrate: Int?
  /// `stereo`: two channels rather than one.
  public var isStereo: Bool?
  /// `maxplaybackrate`: the most samples a second that can be played, 8 000…48 000.
  public var maximumPlaybackRate: Int?
  /// `usedtx`: silence need not be sent.
  public var usesDiscontinuousTransmission: Bool?
  /// `useinbandfec`: copies of earlier packets are made use of.
  public var usesForwardErrorCorrection: Bool?
  /// `cbr`: all packets are to have one size.
  public var isConstantBitrate: Bool?

  /// No preferences.
  public init() {}

  /// Parses the value of `a=fmtp`. Invalid values are ignored; numbers out of range are clamped.
  public init(_ parameters: FormatParameters) {
    func flag(_ name: String) -> Bool? {
      switch parameters.number(name) {
      case 0: false
      case 1: true
      default: nil
      }
    }
    maximumBitrate = parameters.number("maxaveragebitrate").map { max(6_000, min($0, 510_000)) }
    isStereo = flag("stereo")
    maximumPlaybackRate = parameters.number("maxplaybackrate").map { max(8_000, min($0, 48_000)) }
    usesDiscontinuousTransmission = flag("usedtx")
    usesForwardErrorCorrection = flag("useinbandfec")
    isConstantBitrate = flag("cbr")
  }

  /// Combines the preferences of all listeners of one encoder, so that no listener gets less than it asks for:
  /// - the highest limit of bitrate and of playback rate; none if one listener states none;
  /// - one channel, or no copies of earlier packets, only if all listeners say so; silence is left out unless one
  ///   refuses;
  /// - packets of constant size if one listener asks for it, since it protects against eavesdropping.
  ///
  /// A listener that omits a flag agrees with the others: browsers omit RFC 7587's defaults (one channel, no copies),
  /// whatever they can play.
  public static func combined(_ all: some Collection<OpusPreferences>) -> OpusPreferences {
    func limit(_ path: KeyPath<OpusPreferences, Int?>) -> Int? {
      let stated = all.compactMap { $0[keyPath: path] }
      return stated.count == all.count ? stated.max() : nil
    }
    func agreed(_ path: KeyPath<OpusPreferences, Bool?>, unlessAny demanding: Bool) -> Bool? {
      let stated = all.compactMap { $0[keyPath: path] }
      if stated.contains(demanding) { return demanding }
      return stated.count == all.count && !stated.isEmpty ? !demanding : nil
    }
    var result = OpusPreferences()
    result.maximumBitrate = limit(\.maximumBitrate)
    result.maximumPlaybackRate = limit(\.maximumPlaybackRate)
    result.isStereo = agreed(\.isStereo, unlessAny: true)
    result.usesForwardErrorCorrection = agreed(\.usesForwardErrorCorrection, unlessAny: true)
    result.usesDiscontinuousTransmission = agreed(\.usesDiscontinuousTransmission, unlessAny: false)
    result.isConstantBitrate = agreed(\.isConstantBitrate, unlessAny: true)
    return result
  }

  /// Returns `settings`, restricted to the preferences; no feature is added.
  public func applied(to settings: AudioEncoderSettings) -> AudioEncoderSettings {
    var result = settings
    if let maximumBitrate { result.bitrate = min(settings.bitrate, maximumBitrate) }
    if let maximumPlaybackRate { result.maximumSampleRate = min(settings.maximumSampleRate, maximumPlaybackRate) }
    if isStereo == false { result.codesMono = true }
    if usesDiscontinuousTransmission == false { result.usesDiscontinuousTransmission = false }
    if usesForwardErrorCorrection == false { result.usesForwardErrorCorrection = false }
    if isConstantBitrate == true {
      result.isConstantBitrate = true
      // The omission of packets reveals as much as their sizes.
      result.usesDiscontinuousTransmission = false
    }
    return result
  }
}

/// The combined preferences of a sound's listeners.
package struct OpusPreferenceSet<Listener: Hashable & Sendable>: Sendable {
  private var preferences: [Listener: OpusPreferences] = [:]

  /// A set without listeners.
  package init() {}

  /// The preferences of all present listeners; empty without any.
  package var combined: OpusPreferences { OpusPreferences.combined(preferences.values) }

  /// Comes, or changes its mind; nil: is gone.
  /// - Returns: the combined preferences if they have changed; nil otherwise.
  package mutating func set(_ new: OpusPreferences?, of listener: Listener) -> OpusPreferences? {
    let before = combined
    preferences[listener] = new
    let after = combined
    return after == before ? nil : after
  }
}
