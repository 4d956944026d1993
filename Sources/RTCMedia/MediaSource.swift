/// A source of a cast: pictures, sound, or both. The capture times of both are on the monotonic clock.
public struct MediaSource: Sendable {
  /// The capturer of pictures; nil: none.
  public var video: (any VideoCapturer)?
  /// The source of sound; nil: none.
  public var audio: (any AudioSource)?
  /// Set when the source can pause by itself; others are stopped and started again.
  public var playback: (any PausableSource)?
  /// If true, the end of the pictures ends the source; if false, both must have ended.
  public var endsWithVideo: Bool

  /// A source of pictures, of sound, or of both.
  public init(
    video: (any VideoCapturer)?, audio: (any AudioSource)? = nil, playback: (any PausableSource)? = nil,
    endsWithVideo: Bool = true
  ) {
    self.video = video
    self.audio = audio
    self.playback = playback
    self.endsWithVideo = endsWithVideo
  }
}

/// A source that keeps its place while it delivers nothing. Any thread; all methods return at once.
public protocol PausableSource: AnyObject, Sendable {
  /// Delivers nothing from now on.
  func pause()
  /// Continues after a pause.
  func resume()
  /// A start from now on stops before the first picture and the first sound, until `release`: the source reports that it
  /// has started, and delivers nothing. A source that delivers already is not stopped. The default does nothing.
  func hold()
  /// Delivers from the first picture and the first sound, all at the same time. The default does nothing.
  func release()
}

extension PausableSource {
  /// Does nothing.
  public func hold() {}
  /// Does nothing.
  public func release() {}
}
