/// Receives pictures to show or use: a window, a recorder, an application. The end of an incoming video, and of a local
/// preview.
public protocol VideoSink: AnyObject, Sendable {
  /// The picture is due now. Called from any one thread at a time, which waits: return soon, keep the frame's lease as
  /// long as it is needed.
  func show(_ frame: VideoFrame)

  /// No picture follows: the video was removed or its connection has ended.
  func videoDidEnd()
}

/// Receives sound in addition to the loudspeaker: a recorder, speech recognition, a meter.
public protocol AudioSink: AnyObject, Sendable {
  /// Takes sound in the order of playing, 10 ms at a time at 48 kHz. Called on one thread at a time, which must not
  /// wait: take the samples and return.
  func hear(_ frame: AudioFrame)

  /// No sound follows.
  func audioDidEnd()
}
