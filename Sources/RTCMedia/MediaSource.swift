/// What is cast: pictures, sound, or both. Both share the monotonic clock for their capture times.
public struct MediaSource: Sendable {
  public var video: (any VideoCapturer)?
  public var audio: (any AudioSource)?

  public init(video: (any VideoCapturer)?, audio: (any AudioSource)? = nil) {
    self.video = video
    self.audio = audio
  }
}
