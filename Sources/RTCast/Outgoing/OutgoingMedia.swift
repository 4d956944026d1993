import RTCEngine
public import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// The sent picture and sound, encoded once, whichever source is current.
final class OutgoingMedia: Sendable {
  let video: OutgoingVideo
  /// Nil if the broadcast never has audio.
  let audio: OutgoingAudio?

  /// The source of the picture or of the sound.
  private struct Half<Capturer, Input> {
    var capturer: Capturer
    var input: Input
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
    var video: Half<any VideoCapturer, VideoInput>?
    var audio: Half<any AudioSource, AudioInput>?
    /// A source held at its beginning until a viewer can receive it.
    var held: (any PausableSource)?

    /// True when nothing more will come.
    var isFinished: Bool {
      guard let video else { return audio?.isFinished ?? true }
      return video.isFinished && (source.endsWithVideo || audio?.isFinished ?? true)
    }

    /// Takes nothing more of either half.
    func close() {
      video?.input.close()
      audio?.input.close()
    }
  }

  private let options: Broadcast.Options
  /// The formats of the encoders, the best first.
  let encodedFormats: [VideoPayloadFormat]
  private let codecs: CodecRegistry
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state = Mutex(State())
  private let isChanging = Mutex(false)
  private let sinks = EncodedMediaSinks()
  /// Changes pictures before anything reads them; nil: nothing does.
  private let stages: PictureStages?
  /// Receives the events of the source.
  private let page: PageFeatures
  /// The source that delivers nothing at present; nil: none.
  private let stalled = Mutex<ObjectIdentifier?>(nil)

  /// - Parameters:
  ///   - previews: receives the pictures as they are captured.
  ///   - exact: the exact pixels, if any; one of the features of `page`.
  ///   - page: the features of viewers' pages.
  init(
    options: Broadcast.Options, contentHint: ContentHint, sendsAudio: Bool, codecs: CodecRegistry, peers: PeerLoop,
    previews: PreviewSinks? = nil, exact: ExactPixels? = nil, page: PageFeatures = PageFeatures(),
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.options = options
    self.codecs = codecs
    self.report = report
    self.page = page
    let limits = options.bitrates
    // Up to three encoders: the main rung for all viewers; the side rung, while needed, for viewers that join, lose too
    // many packets, are slow or cannot decode the main rung; and a spare for viewers that decode neither.
    let selection = codecs.selection(options, contentHint)
    let main = selection.map { $0.formats[$0.chooser.current] } ?? codecs.coded(options.codec, options.chroma)
    let side = selection?.fallback ?? codecs.fallback(for: main)
    let spare = codecs.spare(besides: [main, side])
    let coded = [main, side] + [spare].compactMap(\.self)
    let encodings = coded.enumerated().map { index, coded in
      let settings = EncodingSettings(
        contentHint: contentHint, maxFrameRate: options.frameRate, startBitrate: limits.start,
        bitrates: limits.minimum...limits.maximum, sizeLimit: options.maximumSize, isActive: false,
        chroma: coded.chroma, scalabilityMode: options.scalabilityMode)
      return VideoEncoding(
        rendition: Rendition(UInt32(index)), format: coded.format, settings: settings, isRung: index < 2,
        makeEncoder: coded.makeEncoder)
    }
    var formats = selection?.formats.map(\.format) ?? [main.format]
    for other in coded.dropFirst() where !formats.contains(other.format) { formats.append(other.format) }
    encodedFormats = formats
    video = OutgoingVideo(
      encodings, selection: selection, peers: peers, sinks: sinks, previews: previews, exact: exact, report: report
    )
    stages = PictureStages(options.pictureStages, before: video)
    audio =
      sendsAudio
      ? codecs.audioFactory.map { [sinks] in
        OutgoingAudio(
          settings: options.audio, startBitrate: options.audioBitrates.start, makeEncoder: $0, peers: peers,
          sinks: sinks, report: report)
      } : nil
    video.onViewers { [weak self] in self?.receiverCame(forVideo: true) }
    audio?.onListeners { [weak self] in self?.receiverCame(forVideo: false) }
  }

  /// The formats to negotiate with viewers, the best first: the source's own, and those of the encoders.
  var videoFormats: [VideoPayloadFormat] {
    var formats = encodedFormats
    if let own = video.sourceFormat { formats.insert(VideoPayloadFormat(own), at: 0) }
    for format in options.offeredFormats.map(VideoPayloadFormat.init) where !formats.contains(format) {
      formats.append(format)
    }
    return formats
  }

  /// True from the first start until the source ended, or until the end where another source may follow.
  var isLive: Bool {
    state.withLock {
      $0.phase == .live || $0.phase == .paused || ($0.phase == .ended && options.outlivesSource)
    }
  }

  /// The source has ended, and none has taken its place.
  var isEnded: Bool { state.withLock { $0.phase == .ended } }

  /// Adds a recorder.
  func add(_ sink: any EncodedMediaSink) {
    sinks.add(sink)
    video.setRecorded(true)
    audio?.setRecorded(true)
    video.requestRecordedKeyFrame()
  }

  // MARK: - Sources

  /// Starts `source` and, when it runs, replaces the present source. If it cannot be started, the present source
  /// continues.
  /// - Parameter keepsSound: if the sound of `source` runs already, it continues; otherwise it is restarted.
  func start(
    _ source: MediaSource, format: VideoFormat?, keepsSound: Bool = false
  ) async throws(CaptureError) -> StartedSource {
    try beginChange()
    defer { isChanging.withLock { $0 = false } }
    let before = state.withLock { $0 }
    guard before.phase != .over else { throw .unavailable("The cast is over; start a new one.") }
    // Otherwise a file's clock would start with its sound, and its first pictures would be late when the track is
    // created.
    source.playback?.hold()
    let started: StartedSource
    do throws(CaptureError) {
      started = try await startHalves(of: source, format: format, before: before, keepsSound: keepsSound)
    } catch {
      source.playback?.release()
      throw error
    }
    let isOver = state.withLock { state in
      state.source = source
      state.format = format
      if source.video == nil { state.video = nil }
      if source.audio == nil { state.audio = nil }
      if state.phase != .over { state.phase = .live }
      return state.phase == .over
    }
    audio?.setHeld(false)
    if source.video == nil {
      video.follow(nil, passesThrough: false)
      page.handle(.sourceChanged(nil))
    }
    retire(before, except: source)
    letGo(source)
    if isOver {
      source.stop()
      throw .unavailable("The cast was stopped before its source had started.")
    }
    return started
  }

  /// Lets a started source deliver, at once or when a viewer can receive it.
  private func letGo(_ source: MediaSource) {
    guard let playback = source.playback else { return }
    guard options.waitsForReceiver else { return playback.release() }
    state.withLock { $0.held = playback }
    if video.hasViewers { receiverCame(forVideo: true) }
    if audio?.hasListeners == true { receiverCame(forVideo: false) }
  }

  /// From the loop's thread as a rule.
  private func receiverCame(forVideo isForVideo: Bool) {
    let held = state.withLock { state -> (any PausableSource)? in
      guard isForVideo || state.source.video == nil else { return nil }
      defer { state.held = nil }
      return state.held
    }
    if let held { return held.release() }
    guard !isForVideo, state.withLock({ $0.held }) != nil else { return }
    // Sound is sent a moment before pictures are. A receiver that takes no pictures is not to wait for them.
    Task { [weak self] in
      try? await Task.sleep(for: Self.pictureWait)
      self?.receiverCame(forVideo: true)
    }
  }

  /// How long a receiver of sound is waited for to receive pictures too.
  private static let pictureWait = Duration.seconds(3)

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
    return half.input.run.format
  }

  /// The pictures that belong to `sound` cannot be started: the sound before it comes back.
  private func takeBackAudio(_ sound: (any AudioSource)?, before: State) async {
    guard let sound, sound !== before.audio?.capturer else { return }
    state.withLock { $0.audio }?.input.close()
    sound.stopCapture()
    state.withLock { $0.audio = nil }
    guard let old = before.audio, !old.isFinished else { return }
    old.capturer.stopCapture()
    do throws(CaptureError) { _ = try await startAudio(old.capturer) } catch { report(.audioLost(error.sentence)) }
  }

  var isPaused: Bool { state.withLock { $0.phase == .paused } }

  /// Pauses the source; viewers keep its last picture and get silence. A source that can pause is asked to. Sound
  /// captured separately, such as the desktop's, is dropped until `resume`.
  func pause() {
    let before = state.withLock { state -> State? in
      guard state.phase == .live else { return nil }
      defer { state.phase = .paused }
      return state
    }
    guard let before else { return }
    audio?.setHeld(true)
    if let pausable = before.source.playback { return pausable.pause() }
    before.close()
    before.source.stop()
  }

  /// Continues after `pause`.
  func resume() async throws(CaptureError) {
    let (source, format) = state.withLock { state -> (MediaSource?, VideoFormat?) in
      guard state.phase == .paused else { return (nil, nil) }
      state.phase = .live
      return (state.source, state.format)
    }
    guard let source else { return }
    audio?.setHeld(false)
    if let pausable = source.playback { return pausable.resume() }
    _ = try await start(source, format: format)
  }

  /// Restarts the present source with at most `frameRate` pictures a second.
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
    let before = state.withLock { state in
      defer { state.phase = .over }
      return state
    }
    before.close()
    before.source.stop()
    stages?.stop()
    video.stop()
  }

  // MARK: - Halves

  private func startVideo(
    _ capturer: any VideoCapturer, format: VideoFormat
  ) async throws(CaptureError) -> VideoFormat {
    // A running capturer is restarted with another format.
    if let half = state.withLock({ $0.video }), half.capturer === capturer {
      half.input.close()
      capturer.stopCapture()
    }
    let result = await withCheckedContinuation { continuation in
      let input = VideoInput(
        SourceRun(continuation), of: video, through: stages,
        didStart: { [weak self] in self?.adopt($0, of: capturer) },
        didStall: { [weak self] in self?.videoStalled($0, $1) }, didEnd: { [weak self] in self?.videoEnded($0, $1) })
      capturer.startCapture(format: format, consumer: input)
    }
    return try result.get()
  }

  private func startAudio(_ sound: any AudioSource) async throws(CaptureError) -> AudioFormat {
    if let half = state.withLock({ $0.audio }), half.capturer === sound {
      half.input.close()
      sound.stopCapture()
    }
    let result = await withCheckedContinuation { continuation in
      let input = AudioInput(
        SourceRun(continuation), of: audio!, didStart: { [weak self] in self?.adopt($0, of: sound) },
        didEnd: { [weak self] in self?.audioEnded($0, $1) })
      sound.startCapture(consumer: input)
    }
    return try result.get()
  }

  /// From here on the picture is `input`'s.
  private func adopt(_ input: VideoInput, of capturer: any VideoCapturer) {
    let old = state.withLock { state in
      defer { state.video = Half(capturer: capturer, input: input) }
      return state.video?.input
    }
    video.beginSource(ObjectIdentifier(input))
    old?.close()
    if let old { videoStalled(old, nil) }
    page.handle(.sourceChanged(capturer))
    video.follow(capturer, passesThrough: options.passesThrough && stages == nil)
  }

  private func adopt(_ input: AudioInput, of sound: any AudioSource) {
    let old = state.withLock { state in
      defer { state.audio = Half(capturer: sound, input: input) }
      return state.audio?.input
    }
    audio?.beginSource(ObjectIdentifier(input))
    old?.close()
    if options.passesThrough, let encoded = sound as? any EncodedAudioSource, encoded.isOpus {
      encoded.setPassthrough(to: input)
    }
  }

  /// Stops what `before` had and `source` has not.
  private func retire(_ before: State, except source: MediaSource) {
    if let half = before.video, half.capturer !== source.video {
      half.input.close()
      half.capturer.stopCapture()
    }
    if let half = before.audio, half.capturer !== source.audio {
      half.input.close()
      half.capturer.stopCapture()
    }
  }

  // MARK: - Stalls and ends

  /// - Parameter sentence: why `input` delivers nothing for the time being; nil: it delivers again, or counts no more.
  private func videoStalled(_ input: VideoInput, _ sentence: String?) {
    stalled.withLock { stalled in
      let id = ObjectIdentifier(input)
      guard sentence != nil || stalled == id else { return }
      stalled = sentence == nil ? nil : id
      page.handle(.sourceStalled(sentence))
      report(sentence.map(BroadcastEvent.sourceStalled) ?? .sourceResumed)
    }
  }

  private func videoEnded(_ input: VideoInput, _ reason: CaptureEnd) {
    end(reason, isAll: reason != .finished) { state in
      guard state.video?.input === input else { return false }
      state.video?.isFinished = true
      return true
    }
  }

  private func audioEnded(_ input: AudioInput, _ reason: CaptureEnd) {
    let isAlone = state.withLock { $0.video == nil }
    if case .lost(let sentence) = reason, !isAlone { report(.audioLost(sentence)) }
    end(reason, isAll: isAlone) { state in
      guard state.audio?.input === input else { return false }
      state.audio?.isFinished = true
      return true
    }
  }

  /// - Parameter isAll: the end of this half (video or audio) ends the cast.
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

/// Everything besides viewers that takes encoded frames. Any thread.
package final class EncodedMediaSinks: Sendable {
  private let sinks = Mutex<[any EncodedMediaSink]>([])

  package init() {}

  package func add(_ sink: any EncodedMediaSink) { sinks.withLock { $0.append(sink) } }
  func send(_ frame: EncodedFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
  func send(_ frame: EncodedAudioFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
}

/// The formats of a started source.
public struct StartedSource: Sendable {
  /// The format of the video; nil without video.
  public var video: VideoFormat?
  /// The format of the audio; nil without audio.
  public var audio: AudioFormat?
}

extension MediaSource {
  func stop() {
    video?.stopCapture()
    audio?.stopCapture()
  }
}
