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
