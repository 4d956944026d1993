/// A source of sound: a microphone, the desktop's output, a file, a generator, a plugin.
///
/// The rules are those of a `VideoCapturer`: starting twice, stopping twice and stopping within a callback are safe,
/// and a source may be started again after it was stopped. Any rate, channel count and length is allowed; the broadcast
/// makes exact blocks of 10 ms at 48 kHz of it.
public protocol AudioSource: AnyObject, Sendable {
  /// Begins to deliver and returns at once.
  func startCapture(consumer: any AudioConsumer)

  /// Ends delivering. After it returns the consumer is not called any more, unless it was called from inside a callback:
  /// then that callback is the last.
  func stopCapture()
}

/// Receives a source's sound. Called on one thread at a time, and not after `stopCapture` has returned.
public protocol AudioConsumer: AnyObject, Sendable {
  /// Called once, before the first frame; on failure no frame follows.
  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>)

  /// The format may change from one frame to the next.
  func consume(_ frame: AudioFrame)

  /// The source ended by itself. No frame follows.
  func audioCaptureDidEnd(_ reason: CaptureEnd)
}
