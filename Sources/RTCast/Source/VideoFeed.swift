import RTCMedia
import Synchronization

/// Stands between one capturer and the pipeline, so that a source that was replaced is not heard any more, whatever its
/// thread still has to say.
final class VideoFeed: VideoConsumer, Sendable {
  private enum State {
    /// Asked to start; the capturer has not answered yet.
    case starting(FeedStart<VideoFormat>)
    case live
    case over
  }

  /// What becomes of a feed, told from the capturer's thread.
  struct Owner: Sendable {
    /// The capturer runs: whatever fed the pipeline before must be silent when this returns.
    var didStart: @Sendable (VideoFeed) -> Void
    var didEnd: @Sendable (VideoFeed, CaptureEnd) -> Void
  }

  private let pipeline: VideoPipeline
  private let owner: Owner
  /// Held while a frame is taken, so that `close` returns when the last frame is through.
  private let state: Mutex<State>

  init(pipeline: VideoPipeline, owner: Owner, start: FeedStart<VideoFormat>) {
    self.pipeline = pipeline
    self.owner = owner
    state = Mutex(.starting(start))
  }

  /// No frame reaches the pipeline after this. Waits for the one under way.
  func close() {
    let before = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .starting(let start) = before {
      start.answer(.failure(.unavailable("The source was stopped before it had started.")))
    }
  }

  // MARK: - VideoConsumer

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    let isLive = if case .success = result { true } else { false }
    let start = state.withLock { state -> FeedStart<VideoFormat>? in
      guard case .starting(let start) = state else { return nil }
      state = isLive ? .live : .over
      return start
    }
    guard let start else { return }
    // Before the first frame, which of a resting screen is the only one.
    if isLive { owner.didStart(self) }
    start.answer(result)
  }

  func consume(_ frame: VideoFrame) {
    state.withLock { if case .live = $0 { pipeline.consume(frame) } }
  }

  func captureDidEnd(_ reason: CaptureEnd) {
    let wasLive = state.withLock { state in
      defer { state = .over }
      return if case .live = state { true } else { false }
    }
    if wasLive { owner.didEnd(self, reason) }
  }
}

/// Carries the answer of a source that was asked to start to whoever waits for it, once.
final class FeedStart<Format: Sendable>: Sendable {
  typealias Answer = Result<Format, CaptureError>
  private let continuation: Mutex<CheckedContinuation<Answer, Never>?>

  init(_ continuation: CheckedContinuation<Answer, Never>) { self.continuation = Mutex(continuation) }

  /// A source that was stopped before it could start says nothing.
  deinit { answer(.failure(.unavailable("The source was stopped before it had started."))) }

  func answer(_ result: Answer) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: result)
  }
}
