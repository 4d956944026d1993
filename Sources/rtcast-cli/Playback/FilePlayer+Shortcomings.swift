import Logging
import RTCCaptureFile

extension FilePlayer {
  /// Says what of the file is not played as it is meant, now and once it turns out, until the file is let go.
  func tellShortcomings(to logger: Logger) {
    for notice in notices { logger.warning("\(notice)") }
    let events = events
    Task {
      for await event in events { if case .leftOut(let sentence) = event { logger.warning("\(sentence)") } }
    }
  }
}
