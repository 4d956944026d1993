public import RTCPrimitives

/// A source of pictures: a screen, a file, a generator, a plugin. `Snippets/OwnSource.swift` implements one.
///
/// A capturer lists its formats, says whether it is a screencast, starts on its own thread and passes frames with their
/// timing to one consumer. The thread must be the capturer's: `consume` lasts as long as an encode, which would block
/// one of Swift's shared threads. Starting twice, stopping twice and stopping within a callback are safe: a second
/// start is refused through the new consumer's `captureDidStart(.failure(.alreadyStarted))`, a second stop does
/// nothing.
///
/// **Damage.** `VideoFrame.damage` lists the differences from the frame before; only these are converted and encoded,
/// so an exact list makes a still source nearly free. Too large a rectangle costs time; a missing one leaves the change
/// invisible. Nil, as for the first frame, means everything; an empty list means nothing. Every frame must contain the
/// whole picture, whatever its damage.
///
/// **Pools.** A frame is a lease: its memory must not change until the last copy of the lease is gone, which may be
/// after `consume` has returned. `PixelBufferPool` lends memory that no lease uses any more; its bytes are those of an
/// older picture, so draw all of it, or everything that has changed since then.
public protocol VideoCapturer: AnyObject, Sendable {
  /// The formats for `startCapture`, best first. Never empty on a source that exists.
  var supportedFormats: [VideoFormat] { get }

  /// True for screens and drawings: keep letters sharp and drop frames first (content hint `detail`).
  var isScreencast: Bool { get }

  /// Begins to capture and returns at once. `format.size` and the upper bound of `format.frameRates` are the request.
  func startCapture(format: VideoFormat, consumer: any VideoConsumer)

  /// Ends capturing. After it returns the consumer is not called any more, unless it was called from inside a callback:
  /// then that callback is the last.
  func stopCapture()
}

/// Receives a capturer's frames.
///
/// The capturer calls on one thread at a time, and not after `stopCapture` has returned. `consume` may take as long as
/// an encode: the capturer takes its next picture only after it returned, so pictures never queue up and the next is
/// always the newest.
public protocol VideoConsumer: AnyObject, Sendable {
  /// Called once, before the first frame; on failure no frame follows.
  func captureDidStart(_ result: Result<VideoFormat, CaptureError>)

  /// Takes the next picture; returns when it is done with it, or keeps the lease.
  func consume(_ frame: VideoFrame)

  /// The source has changed since the last frame, and the next frame, which shows that, comes at `time`.
  ///
  /// A hint from the capturer's thread for a source that changes faster than it is captured: until `time` the picture
  /// looks as if it were at rest, and is not. `time` is on the monotonic clock. The frame may come later, and does not come
  /// if the change was beside the picture. Return at once.
  func captureWillDeliver(at time: Timestamp)

  /// The source delivers nothing at present, for the reason in the sentence: the X server hangs, the window is hidden.
  ///
  /// A report only, as is `captureDidResume`: it may come before `captureDidStart`, and on another thread than frames,
  /// while one is consumed. Return at once, and do not call the capturer.
  func captureDidStall(_ sentence: String)

  /// The source delivers again after `captureDidStall`.
  func captureDidResume()

  /// The source ended by itself: end of file, display gone, window closed. No frame follows.
  func captureDidEnd(_ reason: CaptureEnd)
}

extension VideoConsumer {
  /// Does nothing.
  public func captureWillDeliver(at time: Timestamp) {}

  /// Does nothing.
  public func captureDidStall(_ sentence: String) {}

  /// Does nothing.
  public func captureDidResume() {}
}
