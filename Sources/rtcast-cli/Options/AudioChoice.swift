import ArgumentParser
import Logging
import RTCMedia

/// What `--audio` asks for.
enum AudioChoice: Hashable, Sendable {
  case desktop, microphone, silence, own
  case device(String)

  init(parsing text: String) throws { self = .silence }
}

extension CastOptions {
  func audioSource(own: (any AudioSource)?, _ logger: Logger) -> (any AudioSource)? {
    switch audio {
    case nil, .own: own
    default: nil
    }
  }
}
