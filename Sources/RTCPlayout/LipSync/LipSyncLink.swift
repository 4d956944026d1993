package import RTCEngine
package import RTCPrimitives
import Synchronization

/// Keeps sound and picture of one sender in sync: receives its sender reports, and delays the faster one. Any thread.
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

  /// Compares the playing times and sets both delays. Call it about five times a second.
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

  /// The recent delay of sound relative to the picture of the same moment; nil while unknown.
  package var skew: TimeDelta? { sync.withLock { $0.skew } }
}
