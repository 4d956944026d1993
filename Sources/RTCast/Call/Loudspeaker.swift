import RTCMedia
import RTCPeer
import RTCPlayout
import Synchronization

/// Plays received sound: mixes all tracks for the audio device, which runs from the first track on. Any thread.
final class Loudspeaker: Sendable {
  private let device: (any AudioDevice)?
  private let mixer = AudioMixer()
  private let isPlaying = Mutex(false)

  init(_ device: (any AudioDevice)?) { self.device = device }

  func add(_ track: RemoteAudioTrack) {
    guard let playout = track.playout else { return }
    mixer.add(playout)
    let isFirst = isPlaying.withLock { isPlaying in
      defer { isPlaying = true }
      return !isPlaying
    }
    if isFirst { device?.startPlayout(source: mixer) }
  }

  func remove(_ track: RemoteAudioTrack) {
    if let playout = track.playout { mixer.remove(playout) }
  }

  /// The device asks no longer.
  func stop() {
    isPlaying.withLock { $0 = false }
    device?.stopPlayout()
  }
}
