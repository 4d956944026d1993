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
