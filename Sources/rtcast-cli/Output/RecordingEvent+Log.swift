import Logging
import RTCCaptureFile

extension RecordingEvent {
  /// Reports an event of a recording to the user; a premature end goes to `fail`.
  func log(to logger: Logger, orFail fail: (_ sentence: String) -> Void) {
    switch self {
    case .started(let path): logger.info("Recording into \(path).")
    case .continued(_, let sentence), .leftOut(let sentence), .fellBehind(let sentence): logger.warning("\(sentence)")
    case .segmentCompleted(let path, let bytes): logger.info("Recorded \(bytes / 1000) kB into \(path).")
    case .failed(let sentence): fail(sentence)
    }
  }
}

extension RecordingProgress {
  /// A finished recording has left a file: one into which no picture came is removed.
  var hasFile: Bool { safeBytes > 0 }

  /// The result of a finished recording, for the user.
  var sentence: String {
    if segmentsBefore > 0 {
      let last = hasFile ? "the last file is \(path)" : "there is no file after \(path)"
      return "Recorded into \(segmentsBefore + (hasFile ? 1 : 0)) files; \(last)."
    }
    return hasFile
      ? "Recorded into \(path)." : "Nothing was recorded: no picture and no sound came, so there is no \(path)."
  }
}
