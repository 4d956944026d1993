public import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// What goes out: one picture and one sound, encoded once, whichever source they come from at the time.
final class Program: Sendable {
  let video: VideoPipeline
  let videoTrack: OutgoingVideoTrack
  /// Nil when the broadcast is without sound for good.
  let audio: AudioPipeline?
  let audioTrack: OutgoingAudioTrack?

  /// The source of the picture or of the sound.
  private struct Half<Capturer, Feed> {
    var capturer: Capturer
    var feed: Feed
    var isFinished = false
  }

  private enum Phase {
    case idle, live, paused, over
  }

  private struct State {
    var phase = Phase.idle
    var source = MediaSource(video: nil)
    var format: VideoFormat?
    var video: Half<any VideoCapturer, VideoFeed>?
    var audio: Half<any AudioSource, AudioFeed>?

    /// True when nothing more will come.
    var isFinished: Bool {
      guard let video else { return audio?.isFinished ?? true }
      return video.isFinished && (source.endsWithVideo || audio?.isFinished ?? true)
    }
  }

  private let report: @Sendable (BroadcastEvent) -> Void
  private let state = Mutex(State())
  private let sinks = EncodedMediaSinks()

  init(
    options: Broadcast.Options, contentHint: ContentHint, sendsAudio: Bool, codecs: CodecRegistry, peers: PeerLoop,
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.report = report
    let requests = KeyFrameRequests()
    let sinks = sinks
    let track = peers.makeVideoTrack { requests.send() }
    let limits = options.bitrates
    video = VideoPipeline(
      settings: PipelineSettings(
        contentHint: contentHint, maxFrameRate: options.frameRate, startBitrate: limits.start,
        bitrates: limits.minimum...limits.maximum, sizeLimit: options.maximumSize, isActive: false),
      makeEncoder: codecs.factory(for: options.codec),
      sink: {
        track.send($0)
        sinks.send($0)
      },
      events: { event in Self.sentence(for: event).map(report) })
    requests.connect(to: video)
    videoTrack = track
    guard sendsAudio, let makeEncoder = codecs.audioFactory else {
      (audio, audioTrack) = (nil, nil)
      return
    }
    let losses = LossReports()
    let sound = peers.makeAudioTrack { losses.send($0) }
    audioTrack = sound
    let pipeline = AudioPipeline(
      settings: options.audio, makeEncoder: makeEncoder,
      sink: {
        sound.send($0)
        sinks.send($0)
      },
      onFailure: { report(.encoderFailed("The sound could not be encoded: \($0).")) })
    losses.connect(to: pipeline)
    audio = pipeline
  }

  /// True from the first start until the source ended.
  var isLive: Bool {
    state.withLock { $0.phase == .live || $0.phase == .paused }
  }

  /// True when frames are wanted though nobody watches.
  var isRecorded: Bool { !sinks.isEmpty }

  func add(_ sink: any EncodedMediaSink) {
    sinks.add(sink)
    video.requestKeyFrame()
  }

  // MARK: - Sources

  /// Starts `source` and, as soon as it runs, lets it take the place of the one before, which goes on when this one
  /// cannot be started.
  func start(_ source: MediaSource, format: VideoFormat?) async throws(CaptureError) -> StartedSource {
    let before = state.withLock { $0 }
    guard before.phase != .over else { throw .unavailable("The cast is over; start a new one.") }
    var started = StartedSource()
    // Sound first: a sound server that refuses is found out before the picture has changed.
    if let sound = source.audio, audio != nil { started.audio = try await startAudio(sound) }
    if let capturer = source.video, let format { started.video = try await startVideo(capturer, format: format) }
    let isOver = state.withLock { state in
      state.source = source
      state.format = format
      if source.video == nil { state.video = nil }
      if source.audio == nil { state.audio = nil }
      if state.phase != .over { state.phase = .live }
      return state.phase == .over
    }
    await retire(before, except: source)
    if isOver {
      source.stop()
      throw .unavailable("The cast was stopped before its source had started.")
    }
    return started
  }

  /// Stops the source; viewers keep its last picture. A source that can pause by itself is only asked to.
  func pause() {
    let (source, feeds) = state.withLock { state -> (MediaSource?, [() -> Void]) in
      guard state.phase == .live else { return (nil, []) }
      state.phase = .paused
      return (state.source, closing(state))
    }
    guard let source else { return }
    if let pausable = source.playback { return pausable.pause() }
    for close in feeds { close() }
    source.stop()
  }

  /// Goes on after `pause`.
  func resume() async throws(CaptureError) {
    let (source, format) = state.withLock { state -> (MediaSource?, VideoFormat?) in
      guard state.phase == .paused else { return (nil, nil) }
      state.phase = .live
      return (state.source, state.format)
    }
    guard let source else { return }
    if let pausable = source.playback { return pausable.resume() }
    _ = try await start(source, format: format)
  }

  /// Starts the present source anew with at most `frameRate` pictures a second.
  func setFrameRate(_ frameRate: Double) async throws(CaptureError) {
    video.setMaxFrameRate(frameRate)
    let (source, format, isLive) = state.withLock { ($0.source, $0.format, $0.phase == .live) }
    guard var format, source.video != nil else { return }
    let lowest = min(frameRate, format.frameRates.lowerBound)
    format.frameRates = lowest...frameRate
    guard isLive else { return state.withLock { $0.format = format } }
    _ = try await start(source, format: format)
  }

  func stop() {
    let (source, feeds) = state.withLock { state in
      state.phase = .over
      return (state.source, closing(state))
    }
    for close in feeds { close() }
    source.stop()
    video.stop()
  }

  private func closing(_ state: State) -> [() -> Void] {
    [state.video.map { half in { half.feed.close() } }, state.audio.map { half in { half.feed.close() } }]
      .compactMap(\.self)
  }

  // MARK: - Halves

  private func startVideo(
    _ capturer: any VideoCapturer, format: VideoFormat
  ) async throws(CaptureError) -> VideoFormat {
    // One that runs is started anew, with another format.
    if let half = state.withLock({ $0.video }), half.capturer === capturer {
      half.feed.close()
      capturer.stopCapture()
    }
    let owner = VideoFeed.Owner(
      didStart: { [weak self] in self?.adopt($0, of: capturer) }, didEnd: { [weak self] in self?.videoEnded($0, $1) })
    let result = await withCheckedContinuation { continuation in
      capturer.startCapture(
        format: format, consumer: VideoFeed(pipeline: video, owner: owner, start: FeedStart(continuation)))
    }
    return try result.get()
  }

  private func startAudio(_ sound: any AudioSource) async throws(CaptureError) -> AudioFormat {
    if let half = state.withLock({ $0.audio }), half.capturer === sound {
      half.feed.close()
      sound.stopCapture()
    }
    let owner = AudioFeed.Owner(
      didStart: { [weak self] in self?.adopt($0, of: sound) }, didEnd: { [weak self] in self?.audioEnded($0, $1) })
    let result = await withCheckedContinuation { continuation in
      sound.startCapture(consumer: AudioFeed(pipeline: audio!, owner: owner, start: FeedStart(continuation)))
    }
    return try result.get()
  }

  /// From here on the picture is `feed`'s.
  private func adopt(_ feed: VideoFeed, of capturer: any VideoCapturer) {
    let old = state.withLock { state in
      defer { state.video = Half(capturer: capturer, feed: feed) }
      return state.video?.feed
    }
    old?.close()
    if old != nil { video.sourceChanged() }
  }

  private func adopt(_ feed: AudioFeed, of sound: any AudioSource) {
    let old = state.withLock { state in
      defer { state.audio = Half(capturer: sound, feed: feed) }
      return state.audio?.feed
    }
    old?.close()
  }

  /// Stops what `before` had and `source` has not.
  private func retire(_ before: State, except source: MediaSource) async {
    if let half = before.video, half.capturer !== source.video {
      half.feed.close()
      half.capturer.stopCapture()
    }
    if let half = before.audio, half.capturer !== source.audio {
      half.feed.close()
      half.capturer.stopCapture()
    }
  }

  // MARK: - Ends

  private func videoEnded(_ feed: VideoFeed, _ reason: CaptureEnd) {
    end(reason, isAll: reason != .finished) { state in
      guard state.video?.feed === feed else { return false }
      state.video?.isFinished = true
      return true
    }
  }

  private func audioEnded(_ feed: AudioFeed, _ reason: CaptureEnd) {
    let isAlone = state.withLock { $0.video == nil }
    if case .lost(let sentence) = reason, !isAlone { report(.audioLost(sentence)) }
    end(reason, isAll: isAlone) { state in
      guard state.audio?.feed === feed else { return false }
      state.audio?.isFinished = true
      return true
    }
  }

  /// - Parameter isAll: the cast ends with this half, whatever the other does.
  private func end(_ reason: CaptureEnd, isAll: Bool, _ note: (inout State) -> Bool) {
    let isOver = state.withLock { state -> Bool in
      guard note(&state), state.phase == .live || state.phase == .paused, isAll || state.isFinished else {
        return false
      }
      state.phase = .over
      return true
    }
    if isOver { report(.ended(reason)) }
  }

  private static func sentence(for event: PipelineEvent) -> BroadcastEvent? {
    switch event {
    case .captureStarted, .captureFailed, .captureEnded: nil
    case .sizeChanged(let size): .formatChanged(size)
    case .encoderFailed(let error): .encoderFailed("The encoder refused a frame: \(error).")
    case .conversionFailed(let status):
      .encoderFailed("A frame could not be converted (libyuv status \(status)).")
    }
  }
}

/// What a source really delivers.
public struct StartedSource: Sendable {
  public var video: VideoFormat?
  public var audio: AudioFormat?
}

extension MediaSource {
  func stop() {
    video?.stopCapture()
    audio?.stopCapture()
  }
}

/// Everything besides viewers that takes encoded frames.
private final class EncodedMediaSinks: Sendable {
  private let sinks = Mutex<[any EncodedMediaSink]>([])

  var isEmpty: Bool { sinks.withLock { $0.isEmpty } }
  func add(_ sink: any EncodedMediaSink) { sinks.withLock { $0.append(sink) } }
  func send(_ frame: EncodedFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
  func send(_ frame: EncodedAudioFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
}

/// Carries key-frame requests from the track, which is made first, to the pipeline, which is made with it.
private final class KeyFrameRequests: Sendable {
  private let pipeline = Mutex<VideoPipeline?>(nil)
  func connect(to pipeline: VideoPipeline) { self.pipeline.withLock { $0 = pipeline } }
  func send() { pipeline.withLock { $0 }?.requestKeyFrame() }
}

/// Carries what listeners lose to the pipeline, likewise.
private final class LossReports: Sendable {
  private let pipeline = Mutex<AudioPipeline?>(nil)
  func connect(to pipeline: AudioPipeline) { self.pipeline.withLock { $0 = pipeline } }
  func send(_ loss: Double) { pipeline.withLock { $0 }?.setExpectedLoss(loss) }
}
