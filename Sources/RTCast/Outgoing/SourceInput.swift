import RTCMedia
import RTCPrimitives
import Synchronization

/// The state of one run of a source, from its start to its end.
final class SourceRun<Format: Sendable>: Sendable {
  typealias Answer = Result<Format, CaptureError>

  private enum State {
    /// Asked to start; the source has not answered yet. The continuation is resumed once.
    case starting(CheckedContinuation<Answer, Never>)
    case live(Format)
    case over
  }

  private let state: Mutex<State>

  /// - Parameter start: waits for the source's answer.
  init(_ start: CheckedContinuation<Answer, Never>) { state = Mutex(.starting(start)) }

  /// A source that was stopped before it could start says nothing.
  deinit { close() }

  /// Ends the run; later reports of the source are ignored.
  func close() {
    let before = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .starting(let start) = before {
      start.resume(returning: .failure(.unavailable("The source was stopped before it had started.")))
    }
  }

  /// Takes the result of the start.
  /// - Parameter adopt: called when the source runs, before waiting callers continue and before the first frame, which
  ///   is the only one of a still screen.
  func didStart(_ result: Answer, adopt: () -> Void) {
    let start = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      guard case .starting(let start) = state else { return nil }
      state = if case .success(let format) = result { .live(format) } else { .over }
      return start
    }
    guard let start else { return }
    if case .success = result { adopt() }
    start.resume(returning: result)
  }

  /// The format of the source; nil unless it is running.
  var format: Format? {
    state.withLock { if case .live(let format) = $0 { format } else { nil } }
  }

  var isOver: Bool { state.withLock { if case .over = $0 { true } else { false } } }

  /// The source ended by itself; true when it was live.
  func didEnd() -> Bool {
    state.withLock { state in
      defer { state = .over }
      return if case .live = state { true } else { false }
    }
  }
}

/// One run of a capturer, as the capturer sees it. Its pictures go to `OutgoingVideo`, through the cast's picture stages
/// if it has any.
final class VideoInput: VideoConsumer, Sendable {
  let run: SourceRun<VideoFormat>
  private let video: OutgoingVideo
  private let stages: PictureStages?
  private let didStart: @Sendable (VideoInput) -> Void
  private let didStall: @Sendable (VideoInput, String?) -> Void
  private let didEnd: @Sendable (VideoInput, CaptureEnd) -> Void

  /// - Parameters:
  ///   - didStart: the capturer runs; deliveries of earlier runs are ignored from here on. Called on the capturer's
  ///     thread.
  ///   - didStall: the capturer delivers nothing at present; nil: it delivers again. Any thread.
  ///   - didEnd: the capturer ended by itself. Called on the capturer's thread.
  init(
    _ run: SourceRun<VideoFormat>, of video: OutgoingVideo, through stages: PictureStages?,
    didStart: @escaping @Sendable (VideoInput) -> Void,
    didStall: @escaping @Sendable (VideoInput, String?) -> Void,
    didEnd: @escaping @Sendable (VideoInput, CaptureEnd) -> Void
  ) {
    self.run = run
    self.video = video
    self.stages = stages
    self.didStart = didStart
    self.didStall = didStall
    self.didEnd = didEnd
  }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) { run.didStart(result) { didStart(self) } }

  func consume(_ frame: VideoFrame) {
    guard let stages else { return video.consume(frame, from: ObjectIdentifier(self)) }
    stages.consume(frame, from: ObjectIdentifier(self))
  }

  func captureWillDeliver(at time: Timestamp) { video.announce(time, from: ObjectIdentifier(self)) }

  func captureDidStall(_ sentence: String) { if !run.isOver { didStall(self, sentence) } }

  func captureDidResume() { if !run.isOver { didStall(self, nil) } }

  func captureDidEnd(_ reason: CaptureEnd) {
    if run.didEnd() { didEnd(self, reason) }
  }

  /// Ignores further pictures.
  func close() {
    run.close()
    video.endSource(ObjectIdentifier(self))
    stages?.endSource(ObjectIdentifier(self))
  }
}

/// One run of a source of sound, as the source sees it.
final class AudioInput: AudioConsumer, EncodedAudioConsumer, Sendable {
  let run: SourceRun<AudioFormat>
  private let audio: OutgoingAudio
  private let didStart: @Sendable (AudioInput) -> Void
  private let didEnd: @Sendable (AudioInput, CaptureEnd) -> Void

  /// - Parameters: as `VideoInput`'s.
  init(
    _ run: SourceRun<AudioFormat>, of audio: OutgoingAudio, didStart: @escaping @Sendable (AudioInput) -> Void,
    didEnd: @escaping @Sendable (AudioInput, CaptureEnd) -> Void
  ) {
    self.run = run
    self.audio = audio
    self.didStart = didStart
    self.didEnd = didEnd
  }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) { run.didStart(result) { didStart(self) } }

  func consume(_ frame: AudioFrame) { audio.consume(.captured(frame), from: ObjectIdentifier(self)) }

  func consume(_ frame: EncodedAudioFrame) { audio.consume(.encoded(frame), from: ObjectIdentifier(self)) }

  func audioCaptureDidEnd(_ reason: CaptureEnd) {
    if run.didEnd() { didEnd(self, reason) }
  }

  /// Ignores further sound.
  func close() {
    run.close()
    audio.endSource(ObjectIdentifier(self))
  }
}
