/// A source of pictures: a screen, a file, a generator, a plugin. `Snippets/OwnSource.swift` implements one.
///
/// A capturer says what it can do, says whether it is a screencast, starts on its own thread and hands frames with their
/// timing to one consumer. The thread must be the capturer's: `consume` lasts as long as an encode, which would block one
/// of Swift's shared threads. Starting twice, stopping twice and stopping from inside a callback are safe: a second start
/// is refused through the new consumer's `captureDidStart(.failure(.alreadyStarted))`, a second stop does nothing.
///
/// **Damage.** `VideoFrame.damage` tells what differs from the frame handed over before; only that is converted and
/// encoded, so an honest list makes a resting source nearly free. Too large a rectangle costs time, one that misses a
/// change leaves it unseen. Nil, as for the first frame, means everything; an empty list means nothing. The whole
/// picture must be in every frame, whatever its damage.
///
/// **Pools.** A frame is a lease: its memory must not change until the last copy of the lease is gone, which may be
/// after `consume` has returned. `PixelBufferPool` lends memory that no lease uses any more; its bytes are those of an
/// older picture, so draw all of it, or what has changed since then.
public protocol VideoCapturer: AnyObject, Sendable {
  /// What can be asked of `startCapture`, best first. Never empty on a source that exists.
  var supportedFormats: [VideoFormat] { get }

  /// True for screens and drawings: keep letters sharp and drop frames first (content hint `detail`).
  var isScreencast: Bool { get }

  /// Begins to capture and returns at once. `format.size` and the upper bound of `format.frameRates` say what is wanted.
  func startCapture(format: VideoFormat, consumer: any VideoConsumer)

  /// Ends capturing. After it returns the consumer is not called any more, unless it was called from inside a callback:
  /// then that callback is the last.
  func stopCapture()
}

/// Where a capturer's frames go.
///
/// The capturer calls from one thread at a time, and not after `stopCapture` has returned. `consume` may take as
/// long as an encode: the capturer takes its next picture only after it returned, so pictures never queue up and the next
/// is always the newest.
public protocol VideoConsumer: AnyObject, Sendable {
  /// Called once, before the first frame; on failure no frame follows.
  func captureDidStart(_ result: Result<VideoFormat, CaptureError>)

  /// Takes the next picture; returns when it is done with it, or keeps the lease.
  func consume(_ frame: VideoFrame)

  /// The source has stopped delivering and may go on: the X server hangs, the window is hidden. The sentence says why.
  ///
  /// A report only, as is `captureDidResume`: it may come before `captureDidStart`, and from another thread than frames,
  /// while one is consumed. Return at once, and do not call the capturer.
  func captureDidStall(_ sentence: String)

  /// What `captureDidStall` reported is over.
  func captureDidResume()

  /// The source ended by itself: end of file, display gone, window closed. No frame follows.
  func captureDidEnd(_ reason: CaptureEnd)
}

extension VideoConsumer {
  /// Does nothing.
  public func captureDidStall(_ sentence: String) {}

  /// Does nothing.
  public func captureDidResume() {}
}
