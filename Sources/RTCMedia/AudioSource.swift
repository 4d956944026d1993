/// A source of sound: a microphone, what the desktop plays, a file, a generator, a plugin.
///
/// The same rules as for a `VideoCapturer`: starting twice, stopping twice and stopping from inside a callback are safe,
/// and a source may be started again after it was stopped. What it delivers may be of any rate, channel count and length;
/// the broadcast makes exact blocks of 10 ms at 48 kHz of it.
public protocol AudioSource: AnyObject, Sendable {
  /// Begins to deliver and returns at once.
  func startCapture(consumer: any AudioConsumer)

  /// Ends delivering. After it returns the consumer is not called any more, unless it was called from inside a callback:
  /// then that callback is the last.
  func stopCapture()
}

/// Where a source's sound goes. Called from any one thread at a time, and not after `stopCapture` has returned.
public protocol AudioConsumer: AnyObject, Sendable {
  /// Called once, before the first frame; on failure no frame follows.
  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>)

  /// The format may change from one frame to the next.
  func consume(_ frame: AudioFrame)

  /// The source ended by itself. No frame follows.
  func audioCaptureDidEnd(_ reason: CaptureEnd)
}
