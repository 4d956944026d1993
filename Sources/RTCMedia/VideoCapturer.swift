/// A source of pictures: a screen, a file, a generator, a plugin.
///
/// A capturer says what it can do, says whether it is a screencast, starts on its own thread and hands frames with their
/// timing to one consumer. Starting twice, stopping twice and stopping from inside a callback are safe: a second start is
/// refused through the new consumer's `captureDidStart(.failure(.alreadyStarted))`, a second stop does nothing.
public protocol VideoCapturer: AnyObject, Sendable {
  /// What can be asked of `startCapture`, best first. Never empty on a source that exists.
  var supportedFormats: [VideoFormat] { get }

  /// True for screens and drawings: keep letters sharp and let frames go first (content hint `detail`).
  var isScreencast: Bool { get }

  /// Begins to capture and returns at once. `format.size` and the upper bound of `format.frameRates` say what is wanted.
  func startCapture(format: VideoFormat, consumer: any VideoConsumer)

  /// Ends capturing. After it returns the consumer is not called any more, unless it was called from inside a callback:
  /// then that callback is the last.
  func stopCapture()
}

/// Where a capturer's frames go.
///
/// The capturer calls from any one thread at a time, and nothing after `stopCapture` has returned. `consume` may take as
/// long as an encode: the capturer takes its next picture only after it returned, so pictures never queue up and the next
/// is always the newest.
public protocol VideoConsumer: AnyObject, Sendable {
  /// Called once, before the first frame; on failure no frame follows.
  func captureDidStart(_ result: Result<VideoFormat, CaptureError>)

  func consume(_ frame: VideoFrame)

  /// The source ended by itself: end of file, display gone, window closed. No frame follows.
  func captureDidEnd(_ reason: CaptureEnd)
}

/// Why capturing could not start. Each carries a sentence for the person who asked for it.
public enum CaptureError: Error, Hashable, Sendable {
  case alreadyStarted
  /// No such display, window, monitor or file.
  case noSuchSource(String)
  /// The source is there but cannot be reached now (display refuses, shared memory missing …).
  case unavailable(String)
  /// The source cannot deliver the format asked for (region outside the screen, unsupported visual …).
  case unsupportedFormat(String)
  case notPermitted(String)

  public var sentence: String {
    switch self {
    case .alreadyStarted: "This capturer is already running; stop it first."
    case .noSuchSource(let s), .unavailable(let s), .unsupportedFormat(let s), .notPermitted(let s): s
    }
  }
}

/// Why a source ended by itself.
public enum CaptureEnd: Hashable, Sendable {
  /// The source has nothing more: end of file, generator done.
  case finished
  /// The source went away: the display or window is gone. The sentence says which.
  case lost(String)
}
