public import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// What goes out: one picture and one sound, encoded once, whichever source they come from at the time.
final class Program: Sendable {
  let video: OutgoingVideo
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
    case idle, live, paused
    /// The source has nothing more; another may be started.
    case ended
    case over
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

  private let passesThrough: Bool
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state = Mutex(State())
  private let isChanging = Mutex(false)
  private let sinks = EncodedMediaSinks()
  /// Who sees the pictures as they are captured.
  private let previews: PreviewSinks?

  init(
    options: Broadcast.Options, contentHint: ContentHint, sendsAudio: Bool, codecs: CodecRegistry, peers: PeerLoop,
    previews: PreviewSinks? = nil, report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.report = report
    self.previews = previews
    passesThrough = options.passesThrough
    let sinks = sinks
    video = OutgoingVideo(
      options: options, contentHint: contentHint, codecs: codecs, peers: peers, sinks: sinks, report: report)
    guard sendsAudio, let makeEncoder = codecs.audioFactory else {
      (audio, audioTrack) = (nil, nil)
      return
    }
    let late = Late<AudioPipeline>()
    let sound = peers.makeAudioTrack(
      onLossChange: { late.value?.setExpectedLoss($0) }, onWishesChange: { late.value?.setWishes($0) })
    audioTrack = sound
    let pipeline = AudioPipeline(
      settings: options.audio, makeEncoder: makeEncoder,
      sink: {
        sound.send($0)
        sinks.send($0)
      },
      onFailure: { report(.encoderFailed("The sound could not be encoded: \($0).")) })
    late.value = pipeline
    audio = pipeline
  }

  /// True from the first start until the source ended.
  var isLive: Bool {
    state.withLock { $0.phase == .live || $0.phase == .paused }
  }

  /// Takes in a recorder.
  func add(_ sink: any EncodedMediaSink) {
    sinks.add(sink)
    video.requestKeyFrame()
  }

  /// Says whether viewers are connected.
  func setWatched(_ isWatched: Bool) {
    video.setWatched(isWatched)
    audio?.setActive(isWatched || !sinks.isEmpty)
  }

  // MARK: - Sources

  /// Starts `source` and, as soon as it runs, lets it take the place of the one before, which goes on when this one
  /// cannot be started.
  /// - Parameter keepsSound: a sound of `source` that runs already runs on; otherwise it is started anew.
  func start(
    _ source: MediaSource, format: VideoFormat?, keepsSound: Bool = false
  ) async throws(CaptureError) -> StartedSource {
    try beginChange()
    defer { isChanging.withLock { $0 = false } }
    let before = state.withLock { $0 }
    guard before.phase != .over else { throw .unavailable("The cast is over; start a new one.") }
    let started = try await startHalves(of: source, format: format, before: before, keepsSound: keepsSound)
    let isOver = state.withLock { state in
      state.source = source
      state.format = format
      if source.video == nil { state.video = nil }
      if source.audio == nil { state.audio = nil }
      if state.phase != .over { state.phase = .live }
      audio?.setHeld(false)
      return state.phase == .over
    }
    if source.video == nil { video.follow(nil) }
    retire(before, except: source)
    if isOver {
      source.stop()
      throw .unavailable("The cast was stopped before its source had started.")
    }
    return started
  }

  /// Two sources cannot take over at once.
  private func beginChange() throws(CaptureError) {
    let isFirst = isChanging.withLock { isChanging in
      defer { isChanging = true }
      return !isChanging
    }
    guard isFirst else { throw .unavailable("Another change of the source is under way; wait for its end.") }
  }

  private func startHalves(
    of source: MediaSource, format: VideoFormat?, before: State, keepsSound: Bool
  ) async throws(CaptureError) -> StartedSource {
    var started = StartedSource()
    // Sound first: a sound server that refuses is found out before the picture has changed.
    let running = keepsSound ? runningFormat(of: source.audio, before) : nil
    if let running {
      started.audio = running
    } else if let sound = source.audio, audio != nil {
      started.audio = try await startAudio(sound)
    }
    guard let capturer = source.video, let format else { return started }
    do throws(CaptureError) {
      started.video = try await startVideo(capturer, format: format)
      return started
    } catch {
      await takeBackAudio(source.audio, before: before)
      throw error
    }
  }

  /// Nil unless `sound` is what runs.
  private func runningFormat(of sound: (any AudioSource)?, _ before: State) -> AudioFormat? {
    guard let sound, let half = before.audio, half.capturer === sound else { return nil }
    return half.feed.life.format
  }

  /// The pictures that belong to `sound` cannot be started: the sound before it comes back.
  private func takeBackAudio(_ sound: (any AudioSource)?, before: State) async {
    guard let sound, sound !== before.audio?.capturer else { return }
    state.withLock { $0.audio }?.feed.life.close()
    sound.stopCapture()
    state.withLock { $0.audio = nil }
    guard let old = before.audio, !old.isFinished else { return }
    old.capturer.stopCapture()
    do throws(CaptureError) { _ = try await startAudio(old.capturer) } catch { report(.audioLost(error.sentence)) }
  }

  var isPaused: Bool { state.withLock { $0.phase == .paused } }

  /// Stops the source; viewers keep its last picture and hear nothing. A source that can pause by itself is only asked
  /// to; sound captured beside it, such as the desktop's, is held back until it goes on.
  func pause() {
    let (source, feeds) = state.withLock { state -> (MediaSource?, [() -> Void]) in
      guard state.phase == .live else { return (nil, []) }
      state.phase = .paused
      audio?.setHeld(true)
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
      audio?.setHeld(false)
      return (state.source, state.format)
    }
    guard let source else { return }
    if let pausable = source.playback { return pausable.resume() }
    _ = try await start(source, format: format)
  }

  /// Starts the present source anew with at most `frameRate` pictures a second.
  func setFrameRate(_ frameRate: Double) async throws(CaptureError) {
    video.pipeline.setMaxFrameRate(frameRate)
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
    [state.video.map { half in { half.feed.life.close() } }, state.audio.map { half in { half.feed.life.close() } }]
      .compactMap(\.self)
  }

  // MARK: - Halves

  private func startVideo(
    _ capturer: any VideoCapturer, format: VideoFormat
  ) async throws(CaptureError) -> VideoFormat {
    // One that runs is started anew, with another format.
    if let half = state.withLock({ $0.video }), half.capturer === capturer {
      half.feed.life.close()
      capturer.stopCapture()
    }
    let owner = VideoFeed.Owner(
      didStart: { [weak self] in self?.adopt($0, of: capturer) }, didEnd: { [weak self] in self?.videoEnded($0, $1) })
    let result = await withCheckedContinuation { continuation in
      capturer.startCapture(
        format: format,
        consumer: VideoFeed(
          pipeline: video.pipeline, previews: previews, owner: owner, life: FeedLife(continuation)))
    }
    return try result.get()
  }

  private func startAudio(_ sound: any AudioSource) async throws(CaptureError) -> AudioFormat {
    if let half = state.withLock({ $0.audio }), half.capturer === sound {
      half.feed.life.close()
      sound.stopCapture()
    }
    let owner = AudioFeed.Owner(
      didStart: { [weak self] in self?.adopt($0, of: sound) }, didEnd: { [weak self] in self?.audioEnded($0, $1) })
    let result = await withCheckedContinuation { continuation in
      sound.startCapture(consumer: AudioFeed(pipeline: audio!, owner: owner, life: FeedLife(continuation)))
    }
    return try result.get()
  }

  /// From here on the picture is `feed`'s.
  private func adopt(_ feed: VideoFeed, of capturer: any VideoCapturer) {
    let old = state.withLock { state in
      defer { state.video = Half(capturer: capturer, feed: feed) }
      return state.video?.feed
    }
    old?.life.close()
    if old != nil { video.pipeline.sourceChanged() }
    video.follow(capturer)
  }

  private func adopt(_ feed: AudioFeed, of sound: any AudioSource) {
    let old = state.withLock { state in
      defer { state.audio = Half(capturer: sound, feed: feed) }
      return state.audio?.feed
    }
    old?.life.close()
    if passesThrough, let encoded = sound as? any EncodedAudioSource, encoded.isOpus {
      encoded.setPassthrough(to: feed)
    }
  }

  /// Stops what `before` had and `source` has not.
  private func retire(_ before: State, except source: MediaSource) {
    if let half = before.video, half.capturer !== source.video {
      half.feed.life.close()
      half.capturer.stopCapture()
    }
    if let half = before.audio, half.capturer !== source.audio {
      half.feed.life.close()
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
      state.phase = .ended
      return true
    }
    if isOver { report(.ended(reason)) }
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
