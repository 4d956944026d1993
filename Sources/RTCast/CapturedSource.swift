import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// A running capturer and the pipeline that turns its frames into one encoded track.
final class CapturedSource: Sendable {
  let pipeline: VideoPipeline
  let track: OutgoingVideoTrack
  let contentHint: ContentHint
  private let life: SourceLife

  init(
    options: Broadcast.Options, contentHint: ContentHint, encoder: @escaping VideoEncoderFactory, peers: PeerLoop,
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.contentHint = contentHint
    let life = SourceLife(report: report)
    let requests = KeyFrameRequests()
    let track = peers.makeVideoTrack { requests.send() }
    let limits = options.bitrates
    pipeline = VideoPipeline(
      settings: PipelineSettings(
        contentHint: contentHint, maxFrameRate: options.frameRate, startBitrate: limits.start,
        bitrates: limits.minimum...limits.maximum, sizeLimit: options.maximumSize, isActive: false),
      makeEncoder: encoder, sink: { track.send($0) }, events: { life.handle($0) })
    requests.connect(to: pipeline)
    self.life = life
    self.track = track
  }

  /// True from the first start until the source ended.
  var isLive: Bool { life.isLive }

  func start(_ capturer: any VideoCapturer, format: VideoFormat) async throws(CaptureError) -> VideoFormat {
    let result = await withCheckedContinuation { continuation in
      if life.begin(continuation) {
        capturer.startCapture(format: format, consumer: pipeline)
      } else {
        continuation.resume(returning: .failure(.alreadyStarted))
      }
    }
    return try result.get()
  }

  func stop() {
    life.end()
    pipeline.stop()
  }
}

/// Where a source stands between its start and its end.
private final class SourceLife: Sendable {
  typealias Start = CheckedContinuation<Result<VideoFormat, CaptureError>, Never>

  private enum State {
    case idle
    /// Asked to start; the capturer has not answered yet.
    case starting(Start)
    case live
    case over
  }

  private let state = Mutex(State.idle)
  private let report: @Sendable (BroadcastEvent) -> Void

  init(report: @escaping @Sendable (BroadcastEvent) -> Void) { self.report = report }

  var isLive: Bool {
    state.withLock {
      switch $0 {
      case .idle, .over: false
      case .starting, .live: true
      }
    }
  }

  /// False when it was started before.
  func begin(_ start: Start) -> Bool {
    state.withLock {
      guard case .idle = $0 else { return false }
      $0 = .starting(start)
      return true
    }
  }

  func handle(_ event: PipelineEvent) {
    switch event {
    case .captureStarted(let format): answer(.success(format))
    case .captureFailed(let error): answer(.failure(error))
    case .captureEnded(let reason):
      end()
      report(.ended(reason))
    case .sizeChanged(let size): report(.formatChanged(size))
    case .encoderFailed(let error): report(.encoderFailed("The encoder refused a frame: \(error)."))
    case .conversionFailed(let status):
      report(.encoderFailed("A frame could not be converted (libyuv status \(status))."))
    }
  }

  func end() {
    let waiting = state.withLock { replace(&$0, with: .over) }
    if case .starting(let start) = waiting {
      start.resume(returning: .failure(.unavailable("The cast was stopped before its source had started.")))
    }
  }

  private func answer(_ result: Result<VideoFormat, CaptureError>) {
    let isLive = if case .success = result { true } else { false }
    let waiting = state.withLock { state -> State in
      guard case .starting = state else { return .over }
      return replace(&state, with: isLive ? .live : .over)
    }
    if case .starting(let start) = waiting { start.resume(returning: result) }
  }

  private func replace(_ state: inout State, with new: State) -> State {
    defer { state = new }
    return state
  }
}

/// Carries key-frame requests from the track, which is made first, to the pipeline, which is made with it.
private final class KeyFrameRequests: Sendable {
  private let pipeline = Mutex<VideoPipeline?>(nil)
  func connect(to pipeline: VideoPipeline) { self.pipeline.withLock { $0 = pipeline } }
  func send() { pipeline.withLock { $0 }?.requestKeyFrame() }
}
