public import RTCMedia
public import RTCWire

/// What a listener's description asks of the Opus it is sent (RFC 7587 §6.1); nil where it says nothing.
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

  /// No wishes.
  public init() {}

  /// Reads the value of `a=fmtp`. What makes no sense says nothing; numbers out of range are taken to the nearer bound.
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

  /// One encoder serves all listeners, so the most demanding of them is followed, and nobody hears less than asked for:
  /// - the highest of all limits of bitrate and of playback rate; none as soon as one listener states none;
  /// - one channel, or no copies of earlier packets, only when all say so; silence is left out unless one says no;
  /// - packets of one size when one asks for that, since it is asked for to be safe from eavesdroppers.
  ///
  /// A listener that says nothing of a flag goes with the others: RFC 7587's defaults (one channel, no copies) are what
  /// browsers leave unsaid whatever they can play.
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

  /// `settings` held back to what is asked for; nothing is done that they do not have.
  public func applied(to settings: AudioEncoderSettings) -> AudioEncoderSettings {
    var result = settings
    if let maximumBitrate { result.bitrate = min(settings.bitrate, maximumBitrate) }
    if let maximumPlaybackRate { result.maximumSampleRate = min(settings.maximumSampleRate, maximumPlaybackRate) }
    if isStereo == false { result.codesMono = true }
    if usesDiscontinuousTransmission == false { result.usesDiscontinuousTransmission = false }
    if usesForwardErrorCorrection == false { result.usesForwardErrorCorrection = false }
    if isConstantBitrate == true {
      result.isConstantBitrate = true
      // What is left out tells as much as how large it is.
      result.usesDiscontinuousTransmission = false
    }
    return result
  }
}

/// Who hears a sound, and what they wish of it together.
package struct OpusPreferenceSet<Listener: Hashable & Sendable>: Sendable {
  private var wishes: [Listener: OpusPreferences] = [:]

  /// A set without listeners.
  package init() {}

  /// Of all who are here; nothing while nobody is.
  package var combined: OpusPreferences { OpusPreferences.combined(wishes.values) }

  /// Comes, or changes its mind; nil: is gone.
  /// - Returns: what all wish together, when that is another than before.
  package mutating func set(_ new: OpusPreferences?, of listener: Listener) -> OpusPreferences? {
    let before = combined
    wishes[listener] = new
    let after = combined
    return after == before ? nil : after
  }
}
