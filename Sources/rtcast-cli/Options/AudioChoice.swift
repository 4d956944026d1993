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

  package init(parsing text: String) throws {
    switch text.lowercased() {
    case "desktop": self = .desktop
    case "mic", "microphone": self = .microphone
    case "source": self = .own
    case "none": self = .silence
    default:
      guard text.contains(where: { !$0.isWhitespace }) else {
        throw ValidationError(
          "--audio takes source, desktop, mic, none, or the name of a device (see `rtcast list audio`).")
      }
      self = .device(text)
    }
  }
}

extension AudioChoice {
  /// - Parameters:
  ///   - own: the source's own audio.
  ///   - isCall: the sound server also plays remote peers, and is asked to cancel their echo.
  func source(own: (any AudioSource)?, isCall: Bool, _ logger: Logger) -> (any AudioSource)? {
    let target: PulseTarget
    switch self {
    case .own: return own
    case .silence: return nil
    case .desktop: target = .desktop
    case .microphone: target = .microphone
    case .device(let name): target = .device(name)
    }
    if isCall { return PulseAudioDevice(microphone: target, onNotice: { logger.warning("\($0)") }).microphone }
    return PulseAudioSource(target, onNotice: { logger.warning("\($0)") })
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
