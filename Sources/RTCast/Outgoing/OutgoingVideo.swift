package import RTCEngine
package import RTCMedia
import RTCConvert
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

  package init(
    rendition: Rendition = .encoded, format: VideoPayloadFormat, settings: EncodingSettings,
    makeEncoder: @escaping VideoEncoderFactory
  ) {
    self.rendition = rendition
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
  private let sinks: EncodedMediaSinks
  /// Receives the pictures as they are captured.
  private let previews: PreviewSinks?
  /// Sends exact pixels of still parts.
  private let exact: ExactPixels?
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state: Mutex<State>
  /// Called when there are viewers, and when their requirements change.
  private let viewersCame = Mutex<@Sendable () -> Void>({})
  /// Wakes the thread that works while the source rests.
  private let rest = Waiter()

  /// While exact pixels are to go first, refinement is tried this often. So short a queue costs changes nothing.
  private static let yieldInterval = TimeDelta.milliseconds(20)
  /// The share of the rate that changes may take while exact pixels wait: a film in a corner must not block these.
  private static let yieldShare = 0.65
  /// A viewer waits this long for a key frame of the source at most.
  private static let keyFramePatience = TimeDelta.seconds(1)

  /// - Parameters:
  ///   - encodings: the main rung, the side rung, and a spare encoder for viewers that decode neither; one to three.
  ///     The rungs change places when no viewer is left on the main rung.
  ///   - selection: the candidates of the main rung, if its codec may change; `encodings` begins with its choice. Nil:
  ///     the codec is fixed.
  ///   - sinks: receive the frames of one rendition: the source's own, else the main rung's.
  package init(
    _ encodings: [VideoEncoding], selection: CodecSelection? = nil, peers: PeerLoop, sinks: EncodedMediaSinks,
    previews: PreviewSinks? = nil, exact: ExactPixels? = nil, report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    precondition(1...3 ~= encodings.count, "OutgoingVideo: one encoder to three")
    renditions = encodings.map(\.rendition)
    self.sinks = sinks
    self.previews = previews
    self.exact = exact
    self.report = report
    state = Mutex(State(encodings, selection))
    track = peers.makeVideoTrack(
      renditions: encodings.map { RenditionFormat($0.rendition, $0.format) },
      side: encodings.count > 1 ? encodings[1].rendition : nil, candidates: selection?.formats.map(\.format) ?? [])
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
      state.inOrder.prefix(2).map {
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
  private func changeAtOnce(_ body: (inout State) -> Void) {
    let isDue = state.withLock { state in
      body(&state)
      state.hasUrgentChange = true
      // Before that there is nothing to encode; the first picture's turn takes the change in.
      return state.hasPicture || state.passthrough != nil || !state.released.isEmpty
    }
    if isDue { rest.ring() }
  }

  // MARK: - What viewers need, on the loop

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
    return .move(to: renditions[state.withLock(\.main)])
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
    let turn = state.withLock { state -> (isTaken: Bool, work: State.Turn?) in
      guard state.post(frame, from: run, now: MonotonicClock.now()) else { return (false, nil) }
      return (true, state.beginTurn())
    }
    if turn.isTaken { previews?.show(frame) }
    guard let work = turn.work, let deadline = perform(work) else { return }
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
    for encoder in rungFormats where !encoders.contains(where: { $0.format == encoder.format }) {
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
    let formats = rungFormats
    track.setRenditions(formats, preferred: nil, side: formats.count > 1 ? formats[1].rendition : nil)
    changeAtOnce { $0.updateControls() }
  }

  /// The main rung first.
  private var rungFormats: [RenditionFormat] {
    state.withLock { state in state.inOrder.map { RenditionFormat(renditions[$0], state.formats[$0]) } }
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

  /// One turn of the thread that works while the source rests.
  /// - Parameter deadline: when there is something to do next, if nothing happens before.
  /// - Returns: false when that thread is no longer needed.
  private func serve(_ deadline: inout Timestamp?) -> Bool {
    let (work, isOpen) = state.withLock { ($0.beginTurn(), $0.isOpen) }
    // The thread that has the encoders signals when they are idle and something is due.
    deadline = work.flatMap { perform($0) }
    return isOpen
  }

  /// Performs `first` and the work that arrives meanwhile, then returns the encoders.
  /// - Returns: the time of the next work, if nothing happens before.
  private func perform(_ first: consuming State.Turn) -> Timestamp? {
    var turn = first
    while true {
      let deadline = encode(turn)
      guard let next = state.withLock({ $0.endTurn(turn.bench) }) else { return deadline }
      turn = next
    }
  }

  /// Encodes the main rung first; the side rung follows when the main rung's frame was sent.
  private func encode(_ turn: borrowing State.Turn) -> Timestamp? {
    let bench = turn.bench
    bench.apply(turn.decoding, released: turn.released)
    guard turn.isOpen else { return nil }
    let picture = turn.picture.map { find(in: bench.turner.upright($0.frame), turn) }
    bench.setMain(turn.main)
    choose(turn)
    let main = encode(turn, by: turn.main) { _ in picture.map { ($0, false) } }
    if main.hasPicture, turn.controls[turn.main].isActive { bench.selection?.chooser.note(main.time) }
    let shared = bench.others.map { encodeShared(turn, by: $0, after: main) }
    return (shared + [main.deadline, bench.selection?.chooser.deadline]).compactMap(\.self).min()
  }

  /// Encodes the main rung's picture with another encoder, if that has viewers.
  /// - Returns: the time of its next work, if nothing happens before.
  private func encodeShared(_ turn: borrowing State.Turn, by index: Int, after main: Work) -> Timestamp? {
    let (bench, isNew, encoder) = (turn.bench, turn.picture != nil, turn.bench.encoders[index])
    let isSide = index == bench.side
    guard turn.controls[index].isActive else {
      encoder.stage.apply(turn.controls[index])
      if isSide { bench.load.rest() }
      return encoder.rest(main.end, isNew: isNew)
    }
    encoder.share(from: bench.encoders[turn.main].stage, isNew: isNew, now: main.end)
    let interval = TimeDelta.seconds(1 / max(1, turn.controls[index].maxFrameRate))
    let spacing = bench.load.isHalved ? interval * 3 / 2 : nil
    let work = encode(turn, by: index) { encoder.takeShared(now: $0, spacing: spacing).map { ($0, true) } }
    if isNew, isSide {
      bench.load.note(main: main.time, side: work.hasPicture ? work.time : nil, interval: interval, now: work.end)
    }
    return [work.deadline, encoder.sharedTime(spacing: spacing)].compactMap(\.self).min()
  }

  /// Switches the main rung to the best codec. Not while recording, which keeps its codec, or while the source's own
  /// frames are passed through, which leaves little to gain.
  private func choose(_ turn: borrowing State.Turn) {
    let bench = turn.bench
    guard let selection = bench.selection, turn.mayChoose else { return }
    let main = bench.encoders[turn.main]
    let index = bench.choose(
      turn.viewers, turn.controls[turn.main], newest: turn.picture?.frame, now: MonotonicClock.now())
    let chosen = selection.formats[index]
    guard chosen.format != turn.formats[turn.main] else { return }
    let isFiner = chosen.chroma == .full && main.stage.chroma != .full
    guard turn.picture != nil || !isFiner || !main.stage.isPrepared else { return }
    main.stage.recode(chroma: chosen.chroma, by: chosen.makeEncoder)
    if let side = bench.side, turn.formats[side] != selection.fallback.format {
      bench.encoders[side].stage.recode(chroma: selection.fallback.chroma, by: selection.fallback.makeEncoder)
    }
    state.withLock { state in
      if let side = bench.side { state.formats[side] = selection.fallback.format }
      state.formats[turn.main] = chosen.format
    }
    // Before the frames that this thread sends from now on.
    let formats = rungFormats
    track.setRenditions(formats, preferred: nil, side: formats.count > 1 ? formats[1].rendition : nil)
    report(.codecChanged(chosen.format, viewers: turn.viewers.count))
  }

  /// Reduces the picture's damage to the real changes, and reports them to the viewers of exact pixels before a frame
  /// shows them.
  private func find(in picture: VideoFrame, _ turn: borrowing State.Turn) -> VideoFrame {
    guard let exact, exact.isOffered else { return picture }
    guard turn.controls.contains(where: \.isActive) || exact.isWatched else {
      turn.bench.changes.skip(picture)
      exact.take(picture, nil)
      return picture
    }
    let (found, changed) = turn.bench.changes.take(picture, isAsked: exact.isWatched)
    exact.take(found, changed)
    return found
  }

  /// The result of one encoder in a turn.
  private struct Work {
    var time = TimeDelta.zero
    var end: Timestamp
    var hasPicture = false
    /// When it has something to do next.
    var deadline: Timestamp?
  }

  /// - Parameter picture: the picture to encode, and whether it belongs to another encoder; nil: encode what is due.
  private func encode(
    _ turn: borrowing State.Turn, by index: Int, _ picture: (Timestamp) -> (frame: VideoFrame, isShared: Bool)?
  ) -> Work {
    let (bench, encoder) = (turn.bench, turn.bench.encoders[index])
    let start = MonotonicClock.now()
    var controls = turn.controls[index]
    controls.expect(turn.forecast, now: start)
    // Exact pixels on their way are a queue that refinement waits for, and changes do not.
    if !turn.isRecorded, exact?.wantsRate(ofViewers: turn.viewers.count, start) == true {
      controls.drained = max(controls.drained, start + Self.yieldInterval)
      controls.bitrate = controls.bitrate.scaled(by: Self.yieldShare)
    }
    encoder.stage.apply(controls)
    if turn.isNewSource { encoder.stage.sourceChanged() }
    encoder.stage.follow(bench.newestCapture)
    var work = Work(end: start)
    var frame: EncodedFrame?
    if let (picture, isShared) = picture(start) {
      if !isShared { encoder.stage.noteReplaced(turn.picture?.replaced ?? 0) }
      encoder.stage.take(picture, isShared: isShared, now: start)
      let converted = MonotonicClock.now()
      frame = encoder.stage.encode(now: converted)
      work = Work(end: MonotonicClock.now(), hasPicture: true)
      encoder.stage.noteWork(converting: converted - start, encoding: work.end - converted)
    } else {
      frame = encoder.stage.serve(now: start)
      if frame != nil {
        work.end = MonotonicClock.now()
        encoder.stage.noteWork(encoding: work.end - start)
      }
    }
    work.time = work.end - start
    frame?.encodedTime = work.end
    bench.newestCapture = encoder.stage.newestCapture
    // First, so that the receiver of a frame finds it counted.
    let isKeyFrame = frame?.isKeyFrame ?? false
    let isRecorded = state.withLock { $0.note(encoder.stage.statistics, of: index, isKeyFrame: isKeyFrame) }
    if let frame {
      exact?.send(frame)
      track.send(frame)
      if isRecorded { sinks.send(frame) }
    }
    for event in encoder.stage.takeEvents() { tell(event, isMain: index == turn.main) }
    work.deadline = encoder.stage.nextDeadline(now: work.end)
    return work
  }

  private func tell(_ event: EncoderEvent, isMain: Bool) {
    switch event {
    case .sizeChanged(let size): if isMain { report(.formatChanged(size)) }
    case .limited(let limitation): if isMain { report(.qualityLimited(limitation)) }
    case .encoderFailed(.library(let status, let message)):
      report(.encoderFailed("The encoder refused a frame: \(message) (status \(status))."))
    case .encoderFailed(let error): report(.encoderFailed("The encoder refused a frame: \(error)."))
    case .conversionFailed(let status):
      report(.encoderFailed("A frame could not be converted (libyuv status \(status))."))
    }
  }
}

// MARK: - State

/// The encoders, which travel together.
private final class EncoderBench: @unchecked Sendable {
  // Why unchecked: only the thread that took it out of `State.bench` uses it.
  final class Encoder {
    var stage: EncodeStage
    /// The main rung's picture, still to be encoded for the side rung.
    private var waiting = PictureMailbox()
    /// Whether it has missed a picture.
    private var hasMissed = true
    private var lastShared: Timestamp?
    /// The time since which it has had no viewer.
    private var idleSince: Timestamp?

    /// The memory is released after this long without use, so that viewers that come and go do not need a new encoder
    /// each time.
    private static let idleTime = TimeDelta.seconds(3)

    init(_ encoding: VideoEncoding) {
      stage = EncodeStage(
        settings: encoding.settings, rendition: encoding.rendition, makeEncoder: encoding.makeEncoder)
    }

    /// The side rung has no viewer, so it costs nothing.
    /// - Returns: the time to check again.
    func rest(_ now: Timestamp, isNew: Bool) -> Timestamp? {
      if isNew { hasMissed = true }
      waiting.clear()
      guard stage.isPrepared else { return nil }
      let since = idleSince ?? now
      idleSince = since
      guard now - since >= Self.idleTime else { return since + Self.idleTime }
      stage.release()
      (hasMissed, idleSince) = (true, nil)
      return nil
    }

    /// Takes the main rung's picture, replacing one that was not encoded yet.
    func share(from main: borrowing EncodeStage, isNew: Bool, now: Timestamp) {
      idleSince = nil
      guard isNew || hasMissed else { return }
      guard var picture = main.share(isNext: !hasMissed) else { return hasMissed = true }
      // An unchanged picture is shown now; its capture time is of no use.
      if !isNew { picture.captureTime = now }
      hasMissed = false
      waiting.post(picture)
    }

    /// The picture to encode, unless it is to wait.
    /// - Parameter spacing: between two pictures; nil: each is encoded.
    func takeShared(now: Timestamp, spacing: TimeDelta?) -> VideoFrame? {
      if let due = sharedTime(spacing: spacing), due > now { return nil }
      guard let picture = waiting.take() else { return nil }
      lastShared = now
      return picture.frame
    }

    /// The time at which the waiting picture is to be encoded; nil: none waits.
    func sharedTime(spacing: TimeDelta?) -> Timestamp? {
      guard !waiting.isEmpty else { return nil }
      guard let spacing, let lastShared else { return .zero }
      return lastShared + spacing
    }

    /// Is the main rung from now on.
    func becomeMain() {
      stage.adopt()
      waiting.clear()
      (hasMissed, idleSince, lastShared) = (true, nil, nil)
    }
  }

  let encoders: [Encoder]
  var selection: CodecSelection?
  /// The pictures have colours of their own for each pixel.
  private var isFullColour = true
  /// The main rung; of the first two the other, if there is one, is the side rung.
  private var main = 0
  var side: Int? { encoders.count > 1 ? 1 - main : nil }
  /// All but the main rung, the side rung first.
  var others: [Int] { [side].compactMap(\.self) + encoders.indices.dropFirst(2) }
  var load = EncodingLoad()
  var changes = ChangeFinder()
  /// Not every viewer supports rotation, and none mirrors: pictures encoded here are upright.
  var turner = PictureTurner()
  /// The newest capture time of all encoders: a viewer that changes encoders must not get older pictures.
  var newestCapture = Timestamp.zero
  /// The last instruction to a source of encoded pictures; decoding is wanted at first.
  private var decoding: Decoding?

  init(_ encodings: [VideoEncoding], _ selection: CodecSelection?) {
    encoders = encodings.map { Encoder($0) }
    self.selection = selection
  }

  /// Chooses the best of `selection` for the main rung.
  func choose(
    _ viewers: OutgoingVideo.Viewers, _ controls: EncoderControls, newest: VideoFrame?, now: Timestamp
  ) -> Int {
    if let newest { isFullColour = newest.buffer.format != .i420 && newest.buffer.format != .nv12 }
    var situation = CodecChooser.Situation()
    (situation.viewers, situation.takers) = (viewers.count, viewers.takers)
    let size = newest?.size ?? encoders[main].stage.statistics.size ?? PixelSize(width: 0, height: 0)
    situation.megapixels = Double(size.width * size.height) / 1e6
    situation.frameRate = controls.maxFrameRate
    (situation.rate, situation.highestRate) = (controls.bitrate, controls.bitrates.upperBound)
    situation.wantsFullChroma = isFullColour && controls.contentHint != .motion
    return selection?.chooser.choose(situation, now: now) ?? 0
  }

  func setMain(_ new: Int) {
    guard new != main else { return }
    main = new
    encoders[new].becomeMain()
    load.rest()
  }

  /// Says to the source whether decoded pictures are wanted of it, and to those before that they are again.
  func apply(_ wanted: Decoding?, released: [Passthrough]) {
    for passthrough in released { passthrough.source.setDecoding(true) }
    guard let wanted else {
      decoding = nil
      return
    }
    let before = decoding?.passthrough === wanted.passthrough ? decoding?.isWanted ?? true : true
    decoding = wanted
    if wanted.isWanted != before { wanted.passthrough.source.setDecoding(wanted.isWanted) }
  }
}

/// Whether a source of encoded pictures is to decode them as well.
private struct Decoding {
  var passthrough: Passthrough
  var isWanted: Bool
}

extension OutgoingVideo {
  /// The viewers for which a codec is chosen.
  fileprivate struct Viewers: Equatable {
    var count = 0
    /// How many can take each of the candidates.
    var takers: [Int] = []
  }

  /// Settings and waiting work; locked for moments only.
  private struct State {
    /// The work of one turn.
    struct Turn {
      let bench: EncoderBench
      /// The encoder of the main rung.
      var main: Int
      var picture: (frame: VideoFrame, replaced: UInt64)?
      var forecast: PictureForecast
      var isNewSource: Bool
      var controls: [EncoderControls]
      var decoding: Decoding?
      var released: [Passthrough]
      /// The video is recorded, which has nothing else.
      var isRecorded: Bool
      var isOpen: Bool
      var formats: [VideoPayloadFormat]
      var viewers: Viewers
      /// The main rung may be encoded with something else from now on.
      var mayChoose: Bool
    }

    /// Nil while a thread works with the encoders.
    private var bench: EncoderBench?
    private var waiting = PictureMailbox()
    /// The run of a source that counts.
    private var source: ObjectIdentifier?
    private var hadSource = false
    private var forecast = PictureForecast()
    private var isNewSource = false
    /// A picture came, so that there is something to encode without another.
    private(set) var hasPicture = false
    /// Something was wanted at once since the last turn began.
    var hasUrgentChange = false
    private(set) var isOpen = true
    /// One for each encoder.
    var controls: [EncoderControls]
    /// The encoder of the main rung.
    private(set) var main = 0
    private(set) var statistics: [EncodingStatistics]
    private let encodings: [VideoEncoding]
    /// The format of each encoder.
    var formats: [VideoPayloadFormat]
    private let isChosen: Bool
    var demand = RenditionDemand()
    var isRecorded = false
    /// The pictures are shown on this side.
    var isPreviewed = false
    /// The rendition of the source's own frames; nil when they are encoded here.
    private(set) var passthrough: Passthrough?
    /// Earlier passthroughs whose sources have not been told yet to decode again.
    private(set) var released: [Passthrough] = []
    /// The totals of the source's own frames.
    var passed: PassedPictures?
    var lastRendition: UInt32

    init(_ encodings: [VideoEncoding], _ selection: CodecSelection?) {
      self.encodings = encodings
      formats = encodings.map(\.format)
      isChosen = selection != nil
      bench = EncoderBench(encodings, selection)
      controls = encodings.map { EncoderControls($0.settings) }
      statistics = encodings.map { _ in EncodingStatistics() }
      lastRendition = encodings.map(\.rendition.number).max() ?? 0
    }

    // MARK: Turns

    /// Takes the encoders out, with all waiting work; nil while another thread has them.
    mutating func beginTurn() -> Turn? {
      guard let bench else { return nil }
      self.bench = nil
      return turn(with: bench)
    }

    /// Takes the work that arrived meanwhile, or returns the encoders.
    mutating func endTurn(_ bench: EncoderBench) -> Turn? {
      if hasUrgentChange || !waiting.isEmpty { return turn(with: bench) }
      self.bench = bench
      return nil
    }

    private mutating func turn(with bench: EncoderBench) -> Turn {
      let picture = waiting.take()
      let turn = Turn(
        bench: bench, main: main, picture: picture, forecast: forecast, isNewSource: isNewSource && picture != nil,
        controls: controls,
        decoding: passthrough.map {
          Decoding(passthrough: $0, isWanted: isPreviewed || controls.contains { $0.isActive })
        },
        released: released, isRecorded: isRecorded, isOpen: isOpen, formats: formats,
        viewers: Viewers(count: demand.viewers, takers: demand.takers),
        mayChoose: isChosen && !isRecorded && passthrough == nil)
      if picture != nil { isNewSource = false }
      released = []
      hasUrgentChange = false
      for index in controls.indices where controls[index].wantsKeyFrame { controls[index].wantsKeyFrame = false }
      return turn
    }

    /// Records the result of an encoder.
    /// - Returns: whether its frames are recorded.
    mutating func note(_ new: EncodingStatistics, of index: Int, isKeyFrame: Bool) -> Bool {
      statistics[index] = new
      // It is sent after all requests made so far, and answers requests that arrived while it was encoded.
      if isKeyFrame { controls[index].wantsKeyFrame = false }
      return index == main && passthrough == nil
    }

    // MARK: Source

    mutating func beginSource(_ run: ObjectIdentifier) {
      source = run
      forecast = PictureForecast()
      waiting.clear()
      isNewSource = hadSource
      hadSource = true
    }

    mutating func endSource(_ run: ObjectIdentifier) {
      guard source == run else { return }
      source = nil
      forecast = PictureForecast()
      waiting.clear()
    }

    mutating func announce(_ time: Timestamp, from run: ObjectIdentifier, now: Timestamp) {
      if source == run { forecast.announce(time, now: now) }
    }

    /// False for a picture of a run that does not count.
    mutating func post(_ frame: VideoFrame, from run: ObjectIdentifier, now: Timestamp) -> Bool {
      guard isOpen, source == run else { return false }
      waiting.post(frame)
      forecast.notePicture(now: now)
      hasPicture = true
      return true
    }

    /// - Returns: the one before.
    mutating func setPassthrough(_ new: Passthrough?) -> Passthrough? {
      let old = passthrough
      passthrough = new
      if let old { released.append(old) }
      passed = new.map {
        PassedPictures(
          codec: $0.format.codec, size: $0.format.size.turned($0.format.rotation), frames: passed?.frames ?? 0)
      }
      return old
    }

    mutating func stop() -> Passthrough? {
      isOpen = false
      source = nil
      waiting.clear()
      return setPassthrough(nil)
    }

    // MARK: Demand

    /// Whether viewers receive the source's own pictures, or there are no viewers.
    var isWatched: Bool {
      guard let passthrough else { return false }
      return demand.renditions.isEmpty || demand.renditions.contains(passthrough.rendition)
    }

    /// The encoders, the main rung's first.
    var inOrder: [Int] { [main] + encodings.indices.filter { $0 != main } }

    /// Sets the encoders' controls by the track's demand.
    /// - Returns: true if there is work to do at once.
    @discardableResult
    mutating func updateControls() -> Bool {
      var isUrgent = false
      if let wanted = demand.main, let index = encodings.firstIndex(where: { $0.rendition == wanted }) { main = index }
      for (index, encoding) in encodings.enumerated() {
        let rendition = encoding.rendition
        let isWanted =
          demand.renditions.contains(rendition) || (isRecorded && index == main && passthrough == nil)
        isUrgent = isUrgent || isWanted != controls[index].isActive
        controls[index].isActive = isWanted
        controls[index].awaitsHandover = index == main && demand.awaitsHandover
        controls[index].keepsColorSpace = !demand.withoutColorSpace.contains(rendition)
        controls[index].drained = demand.drained[rendition] ?? .zero
        controls[index].bitrate = demand.bitrates[rendition] ?? encoding.settings.startBitrate
      }
      return isUrgent
    }
  }
}
