package import RTCEngine
package import RTCPrimitives
import Synchronization

/// Keeps a sound and a picture of one sender together: hears of its sender reports, and lets the faster of both wait. Any
/// thread.
package final class LipSyncLink: Sendable {
  private let audio: AudioPlayout
  private let video: VideoPlayout
  private let sync = Mutex(LipSync())

  /// Keeps the two in step for as long as it lives.
  package init(audio: AudioPlayout, video: VideoPlayout) {
    self.audio = audio
    self.video = video
  }

  /// Takes the last sender report of either stream; nil where none came yet.
  package func note(audio: SenderClock?, video: SenderClock?) {
    sync.withLock { sync in
      if let audio { sync.noteAudioReport(audio) }
      if let video { sync.noteVideoReport(video) }
    }
  }

  /// Compares what is heard and seen, and sets both delays. To be called some five times a second.
  package func update(at now: Timestamp) {
    let (heard, shown) = (audio.lastHeard, video.lastShown)
    let delays = sync.withLock { sync in
      if let heard { sync.noteHeard(heard.timestamp, at: heard.time) }
      if let shown { sync.noteShown(shown.timestamp, at: shown.time) }
      return sync.update(at: now)
    }
    audio.addedDelay = delays.audio
    video.addedDelay = delays.video
  }

  /// How much later sound is heard than the picture of the same moment is seen, of late; nil while it is not known.
  package var skew: TimeDelta? { sync.withLock { $0.skew } }
}
