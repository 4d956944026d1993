package import RTCEngine
package import RTCMedia
import RTCNet
package import RTCPeer
package import RTCPrimitives
import Synchronization

/// One encoder of a track: its format and its factory.
package struct VideoEncoding: Sendable {
  package var rendition: Rendition
  package var format: VideoPayloadFormat
  package var settings: EncodingSettings
  package var makeEncoder: VideoEncoderFactory
  /// Whether it is one of the rungs. Otherwise it serves viewers that decode no rung.
  package var isRung: Bool

  package init(
    rendition: Rendition = .encoded, format: VideoPayloadFormat, settings: EncodingSettings, isRung: Bool = true,
    makeEncoder: @escaping VideoEncoderFactory
  ) {
    self.rendition = rendition
    self.isRung = isRung
    self.format = format
    self.settings = settings
    self.makeEncoder = makeEncoder
  }
}

/// The sent video: the source's newest picture → each encoder in use → the track. Frames that the source has encoded
/// itself bypass the encoders as a rendition of their own.
///
/// The encoders belong to one thread at a time. A thread that has work and finds them idle takes them, works without
/// any lock, and returns them when no work waits. Usually that is the source's thread, so that a picture is encoded
/// where it was captured and the next one is not taken before. While the other thread, which makes key frames and
/// refinements when the source is idle, has the encoders, `consume` puts its picture into the mailbox and returns at
/// once. All other threads only set what is wanted. Frames reach the track and the recorders in the order of encoding,
/// with no lock held.
package final class OutgoingVideo: Sendable {
  package let track: OutgoingVideoTrack
  /// The rendition of each encoder.
  private let renditions: [Rendition]
  let sinks: EncodedMediaSinks
  /// Receives the pictures as they are captured.
  private let previews: PreviewSinks?
  /// Sends exact pixels of still parts.
  let exact: ExactPixels?
  let report: @Sendable (BroadcastEvent) -> Void
  let state: Mutex<EncodingState>
  /// Called when there are viewers, and when their requirements change.
  private let viewersCame = Mutex<@Sendable () -> Void>({})
  /// Wakes the thread that works while the source rests.
  private let rest = Waiter()

  /// A viewer waits this long for a key frame of the source at most.
  private static let keyFramePatience = TimeDelta.seconds(1)

  /// - Parameters:
  ///   - encodings: the encoders: the main rung first, which may be alone; side rungs; and spare encoders for viewers
  ///     that decode no rung. The main rung changes places with a side rung when it has no viewer left.
  ///   - selection: the candidates of the main rung, if its codec may change; `encodings` begins with its choice. Nil:
  ///     the codec is fixed.
  ///   - sinks: receive the frames of one rendition: the source's own, else the main rung's.
  package init(
    _ encodings: [VideoEncoding], selection: CodecSelection? = nil, peers: PeerLoop, sinks: EncodedMediaSinks,
    previews: PreviewSinks? = nil, exact: ExactPixels? = nil, report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    renditions = encodings.map(\.rendition)
    self.sinks = sinks
    self.previews = previews
    self.exact = exact
    self.report = report
    let state = EncodingState(encodings, selection)
    let rungs = state.rungs
    self.state = Mutex(state)
    track = peers.makeVideoTrack(
      renditions: encodings.map { RenditionFormat($0.rendition, $0.format) },
      rungs: rungs, candidates: selection?.formats.map(\.format) ?? [])
    track.setSource(
      onKeyFrameRequest: { [weak self] in self?.keyFrameRequested(of: $0) ?? .coming },
      onDemandChanged: { [weak self] in self?.demandChanged($0) })
    // Passed-through frames must be decoded for previews.
    previews?.watch { [weak self] isShown in self?.changeAtOnce { $0.isPreviewed = isShown } }
    do {
      _ = try NamedThread(name: "rtc-encoder") { [weak self, rest] in
        var deadline: Timestamp?
        repeat { rest.wait(until: deadline) } while self?.serve(&deadline) ?? false
      }
    } catch {
      report(.encoderFailed("Key frames come with the next picture only, and no picture is refined: \(error)"))
    }
  }

  deinit { rest.ring() }

  /// Ends the thread and releases the source. A frame that is being encoded may still be sent.
  package func stop() {
    let passthrough = state.withLock { $0.stop() }
    passthrough?.end()
    rest.ring()
  }

  // MARK: - Settings

  /// Asks for a key frame of every encoder: it comes at once, or `EncodingSettings.keyFrameInterval` after the last. All
  /// requests until then are served by it.
  package func requestKeyFrame() {
    changeAtOnce { state in
      for index in state.controls.indices { state.controls[index].wantsKeyFrame = true }
    }
  }

  /// Requests a key frame of the recorded rendition.
  func requestRecordedKeyFrame() {
    changeAtOnce { $0.controls[$0.main].wantsKeyFrame = true }
  }

  /// Changes what is preserved when bandwidth is short, from the next captured frame on.
  package func setContentHint(_ hint: ContentHint) { changeAll { $0.contentHint = hint } }

  /// Changes the bitrate limits of each encoder.
  package func setBitrates(_ bitrates: ClosedRange<BitRate>) { changeAll { $0.bitrates = bitrates } }

  /// The most frames a second the source delivers from now on.
  package func setMaxFrameRate(_ rate: Double) { changeAll { $0.maxFrameRate = rate } }

  /// Sets whether recorders want frames, with or without viewers.
  package func setRecorded(_ isRecorded: Bool) {
    // A recording continues with the rendition that it began with.
    track.setSwapsRungs(!isRecorded)
    changeAtOnce { state in
      state.isRecorded = isRecorded
      state.updateControls()
    }
  }

  /// Totals of the main rung's encoder up to now.
  package func statistics() -> EncodingStatistics { state.withLock { $0.statistics[$0.main] } }

  /// For each rung, the main rung first: the totals of its encoder, and its target bitrate while it is in use.
  package func rungs() -> [(statistics: EncodingStatistics, target: BitRate?)] {
    state.withLock { state in
      state.rungs.all.map(state.index).map {
        (state.statistics[$0], state.controls[$0].isActive ? state.controls[$0].bitrate : nil)
      }
    }
  }

  /// Nil while all pictures are encoded here.
  var passed: PassedPictures? {
    state.withLock { state in
      var passed = state.passed
      passed?.isWatched = state.isWatched
      return passed
    }
  }

  /// The codec of the main rung.
  var codec: VideoCodec { state.withLock { $0.formats[$0.main].codec } }

  /// The format of the source's own frames; nil while all pictures are encoded here.
  var sourceFormat: EncodedVideoFormat? { state.withLock { $0.passthrough?.format } }

  private func changeAll(_ body: (inout EncoderControls) -> Void) {
    state.withLock { state in
      for index in state.controls.indices { body(&state.controls[index]) }
    }
  }

  /// Changes what should be acted on at once.
  private func changeAtOnce(_ body: (inout EncodingState) -> Void) {
    let isDue = state.withLock { state in
      body(&state)
      state.hasUrgentChange = true
      // Before that there is nothing to encode; the first picture's turn takes the change in.
      return state.hasPicture || state.passthrough != nil || !state.released.isEmpty
    }
    if isDue { rest.ring() }
  }

  // MARK: - Demand of viewers, on the loop

  private func demandChanged(_ demand: RenditionDemand) {
    let isUrgent = state.withLock { state in
      let isChoice =
        !demand.takers.isEmpty && (demand.viewers, demand.takers) != (state.demand.viewers, state.demand.takers)
      state.demand = demand
      return state.updateControls() || isChoice
    }
    if isUrgent { changeAtOnce { _ in } }
    guard demand.viewers > 0 else { return }
    let tell = viewersCame.withLock { $0 }
    tell()
  }

  /// Whether there is a viewer that can receive the pictures now.
  var hasViewers: Bool { state.withLock { $0.demand.viewers > 0 } }

  /// Sets the handler that is called on the loop's thread when there are viewers. It may be called repeatedly.
  func onViewers(_ handler: @escaping @Sendable () -> Void) { viewersCame.withLock { $0 = handler } }

  private func keyFrameRequested(of rendition: Rendition) -> KeyFrameAnswer {
    guard let passthrough = state.withLock({ $0.passthrough }), rendition == passthrough.rendition else {
      let index = renditions.firstIndex(of: rendition) ?? 0
      changeAtOnce { $0.controls[index].wantsKeyFrame = true }
      return .coming
    }
    let wait = passthrough.source.timeToNextKeyFrame()
    if let wait, wait <= Self.keyFramePatience {
      report(.keyFrameAwaited(wait))
      return .coming
    }
    report(.transcoding(nextKeyFrame: wait))
    return .move(to: state.withLock(\.rungs.main))
  }

  // MARK: - Source

  /// The run of a source that counts from now on. After the first, the next picture is taken for another source's: nothing
  /// of the picture before is the same, and a key frame comes with it.
  package func beginSource(_ run: ObjectIdentifier) { state.withLock { $0.beginSource(run) } }

  /// Ignores further pictures of `run`. A newer run is not affected.
  package func endSource(_ run: ObjectIdentifier) { state.withLock { $0.endSource(run) } }

  /// Notes when the next picture of the current run comes. Until then, only parts that did not change lately are refined.
  func announce(_ time: Timestamp, from run: ObjectIdentifier) {
    state.withLock { $0.announce(time, from: run, now: MonotonicClock.now()) }
  }

  /// Takes a picture of `run`, if that is the run that counts, and works until nothing waits.
  package func consume(_ frame: VideoFrame, from run: ObjectIdentifier) {
    let (isTaken, pass) = state.withLock { state -> (Bool, EncodingPass?) in
      guard state.post(frame, from: run, now: MonotonicClock.now()) else { return (false, nil) }
      return (true, state.beginPass())
    }
    if isTaken { previews?.show(frame) }
    guard let pass, let deadline = perform(pass) else { return }
    rest.ring(ifAsleepAfter: deadline)
  }

  /// Takes a picture of `run`, if that is the run that counts; `encodeWaiting` follows.
  func post(_ frame: VideoFrame, from run: ObjectIdentifier) {
    let isTaken = state.withLock { $0.post(frame, from: run, now: MonotonicClock.now()) }
    if isTaken { previews?.show(frame) }
  }

  /// Works until nothing waits, unless another thread does.
  func encodeWaiting() {
    guard let pass = state.withLock({ $0.beginPass() }), let deadline = perform(pass) else { return }
    rest.ring(ifAsleepAfter: deadline)
  }

  /// The pictures come from `capturer` from now on: passed on when it can and `passesThrough`, otherwise encoded.
  func follow(_ capturer: (any VideoCapturer)?, passesThrough: Bool) {
    let source = passesThrough ? capturer as? any EncodedVideoCapturer : nil
    guard let source, let format = source.encodedFormat else { return endPassthrough() }
    let (passthrough, old) = state.withLock { state -> (Passthrough, Passthrough?) in
      state.lastRendition += 1
      let new = Passthrough(
        source, format: format, rendition: Rendition(state.lastRendition),
        send: { [weak self] in self?.pass($0) }, ended: { [weak self] in self?.passthroughEnded($0) })
      return (new, state.setPassthrough(new))
    }
    old?.end()
    // Viewers that cannot decode it share one encoder, unless they cannot decode its format either.
    var encoders: [RenditionFormat] = []
    for encoder in encoderRenditions().formats where !encoders.contains(where: { $0.format == encoder.format }) {
      encoders.append(encoder)
    }
    track.setRenditions(
      [RenditionFormat(passthrough.rendition, VideoPayloadFormat(format), isTurned: format.rotation != .none)]
        + encoders,
      preferred: passthrough.rendition)
    changeAtOnce { $0.updateControls() }
    passthrough.begin()
  }

  private func endPassthrough() {
    guard let old = state.withLock({ $0.setPassthrough(nil) }) else { return }
    old.end()
    offerEncoders()
    changeAtOnce { $0.updateControls() }
  }

  /// The renditions of the encoders, the main rung first.
  private func encoderRenditions() -> (formats: [RenditionFormat], rungs: Rungs) {
    state.withLock { state in
      (state.inOrder.map { RenditionFormat(renditions[$0], state.formats[$0]) }, state.rungs)
    }
  }

  /// Makes the encoders' renditions the only ones.
  func offerEncoders() {
    let (formats, rungs) = encoderRenditions()
    track.setRenditions(formats, preferred: nil, rungs: rungs)
  }

  /// The source found pictures that cannot be passed on; on its thread.
  private func passthroughEnded(_ rendition: Rendition) {
    guard state.withLock({ $0.passthrough?.rendition == rendition }) else { return }
    report(.transcoding(nextKeyFrame: nil))
    endPassthrough()
  }

  /// On the source's thread.
  private func pass(_ frame: EncodedFrame) {
    let isCurrent = state.withLock { state in
      guard state.passthrough?.rendition == frame.rendition else { return false }
      state.passed?.frames += 1
      return true
    }
    guard isCurrent else { return }
    track.send(frame)
    sinks.send(frame)
  }

  // MARK: - Work

  /// Performs the work that is due; called on the thread that works while the source rests.
  /// - Parameter deadline: when there is something to do next, if nothing happens before.
  /// - Returns: false when that thread is no longer needed.
  private func serve(_ deadline: inout Timestamp?) -> Bool {
    let (work, isOpen) = state.withLock { ($0.beginPass(), $0.isOpen) }
    // The thread that has the encoders signals when they are idle and something is due.
    deadline = work.flatMap { perform($0) }
    return isOpen
  }

  /// Performs `first` and the work that arrives meanwhile, then returns the encoders.
  /// - Returns: the time of the next work, if nothing happens before.
  private func perform(_ first: EncodingPass) -> Timestamp? {
    var pass = first
    while true {
      let deadline = encode(pass)
      guard let next = state.withLock({ $0.endPass(pass.encoders) }) else { return deadline }
      pass = next
    }
  }
}
