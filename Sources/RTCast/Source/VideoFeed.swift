import RTCMedia

/// Stands between one capturer and the pipeline.
final class VideoFeed: VideoConsumer, Sendable {
  /// What becomes of a feed, told from the capturer's thread.
  struct Owner: Sendable {
    /// The capturer runs: whatever fed the pipeline before must be silent when this returns.
    var didStart: @Sendable (VideoFeed) -> Void
    var didEnd: @Sendable (VideoFeed, CaptureEnd) -> Void
  }

  let life: FeedLife<VideoFormat>
  private let pipeline: VideoPipeline
  private let previews: PreviewSinks?
  private let owner: Owner

  init(pipeline: VideoPipeline, previews: PreviewSinks?, owner: Owner, life: FeedLife<VideoFormat>) {
    self.pipeline = pipeline
    self.previews = previews
    self.owner = owner
    self.life = life
  }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    life.didStart(result) { owner.didStart(self) }
  }

  func consume(_ frame: VideoFrame) {
    life.pass {
      previews?.show(frame)
      pipeline.consume(frame)
    }
  }

  func captureDidEnd(_ reason: CaptureEnd) {
    if life.didEnd() { owner.didEnd(self, reason) }
  }
}
