import RTCMedia
import Synchronization

/// Stands between one source of sound and the pipeline, as `VideoFeed` does for pictures.
final class AudioFeed: AudioConsumer, EncodedAudioConsumer, Sendable {
  private enum State {
    case starting(FeedStart<AudioFormat>)
    case live
    case over
  }

  struct Owner: Sendable {
    var didStart: @Sendable (AudioFeed) -> Void
    var didEnd: @Sendable (AudioFeed, CaptureEnd) -> Void
  }

  private let pipeline: AudioPipeline
  private let owner: Owner
  private let state: Mutex<State>

  init(pipeline: AudioPipeline, owner: Owner, start: FeedStart<AudioFormat>) {
    self.pipeline = pipeline
    self.owner = owner
    state = Mutex(.starting(start))
  }

  /// No sound reaches the pipeline after this.
  func close() {
    let before = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .starting(let start) = before {
      start.answer(.failure(.unavailable("The source was stopped before it had started.")))
    }
  }

  // MARK: - AudioConsumer

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    let isLive = if case .success = result { true } else { false }
    let start = state.withLock { state -> FeedStart<AudioFormat>? in
      guard case .starting(let start) = state else { return nil }
      state = isLive ? .live : .over
      return start
    }
    guard let start else { return }
    if isLive { owner.didStart(self) }
    start.answer(result)
  }

  func consume(_ frame: AudioFrame) { pass { pipeline.consume(frame) } }

  func consume(_ frame: EncodedAudioFrame) { pass { pipeline.consume(frame) } }

  func audioCaptureDidEnd(_ reason: CaptureEnd) {
    let wasLive = state.withLock { state in
      defer { state = .over }
      return if case .live = state { true } else { false }
    }
    if wasLive { owner.didEnd(self, reason) }
  }

  private func pass(_ deliver: () -> Void) {
    state.withLock { if case .live = $0 { deliver() } }
  }
}
