import RTCMedia

/// Stands between one source of sound and the pipeline.
final class AudioFeed: AudioConsumer, EncodedAudioConsumer, Sendable {
  struct Owner: Sendable {
    var didStart: @Sendable (AudioFeed) -> Void
    var didEnd: @Sendable (AudioFeed, CaptureEnd) -> Void
  }

  let life: FeedLife<AudioFormat>
  private let pipeline: AudioPipeline
  private let owner: Owner

  init(pipeline: AudioPipeline, owner: Owner, life: FeedLife<AudioFormat>) {
    self.pipeline = pipeline
    self.owner = owner
    self.life = life
  }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    life.didStart(result) { owner.didStart(self) }
  }

  func consume(_ frame: AudioFrame) { life.pass { pipeline.consume(frame) } }

  func consume(_ frame: EncodedAudioFrame) { life.pass { pipeline.consume(frame) } }

  func audioCaptureDidEnd(_ reason: CaptureEnd) {
    if life.didEnd() { owner.didEnd(self, reason) }
  }
}
