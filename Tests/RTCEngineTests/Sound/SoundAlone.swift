import RTCEngine
import RTCTestKit

extension PeerPair.Options {
  /// One side sends sound, the other hears it; no pictures.
  static var soundAlone: Self {
    var options = Self()
    options.configure = { side, configuration in
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
      configuration.sendsVideo = nil
      configuration.receivesVideo = false
    }
    return options
  }
}
