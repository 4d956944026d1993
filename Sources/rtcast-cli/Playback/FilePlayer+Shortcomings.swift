import Logging
import RTCCaptureFile

extension FilePlayer {
  /// Reports the parts of the file that cannot be played as intended, now and when they are found.
  func tellShortcomings(to logger: Logger) {
    for notice in notices { logger.warning("\(notice)") }
    let events = events
    Task {
      for await event in events { if case .leftOut(let sentence) = event { logger.warning("\(sentence)") } }
    }
  }
}
