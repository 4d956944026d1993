import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// A running capturer and the pipeline that turns its frames into one encoded track.
final class CapturedSource: VideoConsumer {
  let pipeline: VideoPipeline
  let track: OutgoingVideoTrack
  let contentHint: ContentHint
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state = Mutex(State())

  private struct State {
    var life = Life.idle
    var size: PixelSize?
  }

  private enum Life {
    case idle
    /// Asked to start; the capturer has not answered yet.
    case starting(CheckedContinuation<Result<VideoFormat, CaptureError>, Never>)
    case live
    case over
  }

  init(
    options: Broadcast.Options, contentHint: ContentHint, encoder: @escaping VideoEncoderFactory, peers: PeerLoop,
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.contentHint = contentHint
    self.report = report
    let requests = KeyFrameRequests()
    track = peers.makeVideoTrack { requests.send() }
    let track = track
    pipeline = VideoPipeline(
      settings: VideoPipeline.Settings(
        maxFrameRate: options.frameRate, contentHint: contentHint, maximumSize: options.maximumSize,
        targetBitrate: options.bitrates.start),
      encoder: encoder, sink: { track.send($0) })
    requests.connect(to: pipeline)
  }

  /// True from the first start until the source ended.
  var isLive: Bool {
    state.withLock {
      switch $0.life {
      case .idle, .over: false
      case .starting, .live: true
      }
    }
  }

  func start(_ capturer: any VideoCapturer, format: VideoFormat) async throws(CaptureError) -> VideoFormat {
    let result = await withCheckedContinuation { continuation in
      let isFirst = state.withLock { state in
        guard case .idle = state.life else { return false }
        state.life = .starting(continuation)
        return true
      }
      if isFirst {
        capturer.startCapture(format: format, consumer: self)
      } else {
        continuation.resume(returning: .failure(.alreadyStarted))
      }
    }
    return try result.get()
  }

  func stop() {
    finish()
    pipeline.stop()
  }

  private func finish() {
    let waiting = state.withLock { state in
      let before = state.life
      state.life = .over
      return before
    }
    if case .starting(let continuation) = waiting {
      continuation.resume(returning: .failure(.unavailable("The cast was stopped before its source had started.")))
    }
  }

  // MARK: - VideoConsumer

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    let waiting = state.withLock { state in
      let before = state.life
      if case .success = result { state.life = .live } else { state.life = .over }
      return before
    }
    if case .starting(let continuation) = waiting { continuation.resume(returning: result) }
  }

  func consume(_ frame: VideoFrame) {
    let changed = state.withLock { state in
      defer { state.size = frame.size }
      return state.size != nil && state.size != frame.size
    }
    if changed { report(.formatChanged(frame.size)) }
    pipeline.consume(frame)
  }

  func captureDidEnd(_ reason: CaptureEnd) {
    finish()
    report(.ended(reason))
  }
}

/// Carries key-frame requests from the track, which is made first, to the pipeline, which is made with it.
private final class KeyFrameRequests: Sendable {
  private let pipeline = Mutex<VideoPipeline?>(nil)
  func connect(to pipeline: VideoPipeline) { self.pipeline.withLock { $0 = pipeline } }
  func send() { pipeline.withLock { $0 }?.requestKeyFrame() }
}
