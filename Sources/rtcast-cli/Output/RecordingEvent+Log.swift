import Logging
import RTCCaptureFile

extension RecordingEvent {
  /// Tells the person what becomes of a recording; its end before its time goes to `fail`.
  func log(to logger: Logger, orFail fail: (_ sentence: String) -> Void) {
    switch self {
    case .started(let path): logger.info("Recording into \(path).")
    case .continued(_, let sentence), .leftOut(let sentence), .fellBehind(let sentence): logger.warning("\(sentence)")
    case .failed(let sentence): fail(sentence)
    }
  }
}

extension RecordingProgress {
  /// A finished recording has left a file: one into which no picture came is removed.
  var hasFile: Bool { safeBytes > 0 }

  /// What became of a finished recording, for a person.
  var sentence: String {
    hasFile
      ? "Recorded into \(path)." : "Nothing was recorded: no picture and no sound came, so there is no \(path)."
  }
}
