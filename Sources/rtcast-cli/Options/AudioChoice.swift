import ArgumentParser
import Logging
import RTCAudio
import RTCMedia

/// The value of `--audio`.
package enum AudioChoice: Hashable, Sendable {
  /// The sound that this machine plays.
  case desktop
  case microphone
  /// The source's own.
  case own
  case silence
  /// A device by its name or description, or a part of it.
  case device(String)
  /// The sound of one program, by its name.
  case program(String)
  /// Several of `desktop`, `microphone` and `program`, added.
  case sum([AudioChoice])

  package init(parsing text: String) throws {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false).map(Self.sharable)
    if parts.count > 1, let parts = parts as? [AudioChoice] {
      self = .sum(parts)
      return
    }
    if let one = Self.sharable(text[...]) {
      self = one
      return
    }
    switch text.lowercased() {
    case "source": self = .own
    case "none": self = .silence
    default:
      guard text.contains(where: { !$0.isWhitespace }), !text.lowercased().hasPrefix("app:") else {
        throw ValidationError(
          "--audio takes source, desktop, mic, app:NAME, none, or the name of a device (see `rtcast list audio`).")
      }
      self = .device(text)
    }
  }

  /// The choice that may be a part of a sum; nil for everything else, such as a device whose name has a plus sign.
  private static func sharable(_ text: Substring) -> AudioChoice? {
    switch text.lowercased() {
    case "desktop": return .desktop
    case "mic", "microphone": return .microphone
    default:
      guard text.lowercased().hasPrefix("app:") else { return nil }
      let name = text.dropFirst(4)
      return name.contains { !$0.isWhitespace } ? .program(String(name)) : nil
    }
  }

  /// The sound server's sound; nil for the others.
  fileprivate var target: PulseTarget? {
    switch self {
    case .own, .silence, .sum: nil
    case .desktop: .desktop
    case .microphone: .microphone
    case .device(let name): .device(name)
    case .program(let name): .program(name)
    }
  }
}

extension AudioChoice {
  /// - Parameters:
  ///   - own: the source's own audio.
  ///   - isCall: the sound server also plays remote peers, and is asked to cancel their echo.
  func source(own: (any AudioSource)?, isCall: Bool, _ logger: Logger) -> (any AudioSource)? {
    switch self {
    case .own: return own
    case .silence: return nil
    case .sum(let parts):
      return MixedAudioSource(parts.compactMap { $0.source(own: nil, isCall: isCall && $0 == .microphone, logger) })
    case .desktop, .microphone, .device, .program:
      guard let target else { return nil }
      if isCall { return PulseAudioDevice(microphone: target, onNotice: { logger.warning("\($0)") }).microphone }
      return PulseAudioSource(target, onNotice: { logger.warning("\($0)") })
    }
  }
}

extension CastOptions {
  /// The sound to send.
  /// - Parameter own: the source's.
  func audioSource(own: (any AudioSource)?, _ logger: Logger) -> (any AudioSource)? {
    guard let audio = media.audio else { return own }
    let isCall = if case .hub? = destination.to { true } else { false }
    return audio.source(own: own, isCall: isCall, logger)
  }
}
