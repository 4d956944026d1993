package import RTCEngine
package import RTCMedia
import RTCNet
package import RTCPeer
package import RTCPrimitives
import Synchronization

/// One encoder of a track: what it makes, and what makes it.
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

/// The pictures that go out: the source's newest picture → each encoder that somebody watches → the track. What a source
/// has encoded already passes by the encoders, as a rendition of its own.
///
/// The encoders belong to one thread at a time: whoever has work and finds them idle takes them, works without any lock,
/// and puts them back when nothing waits. That is the source's thread as a rule, so that a picture is encoded where it was
/// captured and the next is not taken before; `consume` returns at once, leaving its picture in the mailbox, while the
/// other thread, which serves key frames and refinement when the source rests, has the encoders. Everybody else only says
/// what is wanted. Frames reach the track and the recorders in the order they were made, with no lock held.
package final class OutgoingVideo: Sendable {
  package let track: OutgoingVideoTrack
  private let encodings: [VideoEncoding]
  private let sinks: EncodedMediaSinks
  /// Who sees the pictures as they are captured.
  private let previews: PreviewSinks?
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state: Mutex<State>
  /// Wakes the thread that works while the source rests.
  private let rest = Waiter()

  /// A viewer waits this long for a key frame of the source at most.
  private static let keyFramePatience = TimeDelta.seconds(2)

  /// - Parameters:
  ///   - encodings: the encoders, the one that is recorded first; not empty.
  ///   - sinks: get the frames of one rendition: the source's own, else the first encoder's.
  package init(
    _ encodings: [VideoEncoding], peers: PeerLoop, sinks: EncodedMediaSinks, previews: PreviewSinks? = nil,
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    precondition(!encodings.isEmpty, "OutgoingVideo: no encoder")
    self.encodings = encodings
    self.sinks = sinks
    self.previews = previews
    self.report = report
    state = Mutex(State(encodings))
    track = peers.makeVideoTrack(renditions: encodings.map { RenditionFormat($0.rendition, $0.format) })
    track.setSource(
      onKeyFrameRequest: { [weak self] in self?.keyFrameRequested(of: $0) ?? .coming },
      onDemandChanged: { [weak self] in self?.demandChanged($0) })
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

  /// Ends the thread and lets go of the source. A frame that is being encoded may still be sent.
  package func stop() {
    let passthrough = state.withLock { $0.stop() }
    passthrough?.end()
    rest.ring()
  }

  // MARK: - What is wanted

  /// Asks for a key frame of every encoder: it comes at once, or one frame interval after the last. All requests until
  /// then are served by it.
  package func requestKeyFrame() {
    changeAtOnce { state in
      for index in state.controls.indices { state.controls[index].wantsKeyFrame = true }
    }
  }

  /// Changes what gives way first; holds from the next captured frame on.
  package func setContentHint(_ hint: ContentHint) { changeAll { $0.contentHint = hint } }

  /// Changes what the bitrate of each encoder is kept within.
  package func setBitrates(_ bitrates: ClosedRange<BitRate>) { changeAll { $0.bitrates = bitrates } }

  /// The most frames a second the source delivers from now on.
  package func setMaxFrameRate(_ rate: Double) { changeAll { $0.maxFrameRate = rate } }

  /// Says whether the sinks want frames, whoever watches.
  package func setRecorded(_ isRecorded: Bool) {
    changeAtOnce { state in
      state.isRecorded = isRecorded
      state.updateControls()
    }
  }

  /// Totals of the first encoder up to now.
  package func statistics() -> EncodingStatistics { state.withLock { $0.statistics[0] } }

  /// Nil while all pictures are encoded here.
  var passed: PassedPictures? { state.withLock { $0.passed } }

  /// What the source's own pictures are coded with; nil while all pictures are encoded here.
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
      state.demand = demand
      return state.updateControls()
    }
    if isUrgent { changeAtOnce { _ in } }
  }

  private func keyFrameRequested(of rendition: Rendition) -> KeyFrameAnswer {
    guard let passthrough = state.withLock({ $0.passthrough }), rendition == passthrough.rendition else {
      let index = encodings.firstIndex { $0.rendition == rendition } ?? 0
      changeAtOnce { $0.controls[index].wantsKeyFrame = true }
      return .coming
    }
    let wait = passthrough.source.timeToNextKeyFrame()
    if let wait, wait <= Self.keyFramePatience {
      report(.keyFrameAwaited(wait))
      return .coming
    }
    report(.transcoding(nextKeyFrame: wait))
    return .move(to: encodings[0].rendition)
  }

  // MARK: - Source

  /// The run of a source that counts from now on. After the first, the next picture is taken for another source's: nothing
  /// of the picture before is the same, and a key frame comes with it.
  package func beginSource(_ run: ObjectIdentifier) { state.withLock { $0.beginSource(run) } }

  /// Takes nothing more of `run`; another that counts by now goes on.
  package func endSource(_ run: ObjectIdentifier) { state.withLock { $0.endSource(run) } }

  /// Takes a picture of `run`, if that is the run that counts, and works until nothing waits.
  package func consume(_ frame: VideoFrame, from run: ObjectIdentifier) {
    let turn = state.withLock { state -> (isTaken: Bool, work: State.Turn?) in
      guard state.post(frame, from: run) else { return (false, nil) }
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
    track.setRenditions(
      [RenditionFormat(passthrough.rendition, VideoPayloadFormat(format))] + encoderFormats,
      preferred: passthrough.rendition)
    changeAtOnce { $0.updateControls() }
    passthrough.begin()
  }

  private func endPassthrough() {
    guard let old = state.withLock({ $0.setPassthrough(nil) }) else { return }
    old.end()
    track.setRenditions(encoderFormats, preferred: nil)
    changeAtOnce { $0.updateControls() }
  }

  private var encoderFormats: [RenditionFormat] { encodings.map { RenditionFormat($0.rendition, $0.format) } }

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
    // Who has the encoders rings when they are idle again and something is due.
    deadline = work.flatMap { perform($0) }
    return isOpen
  }

  /// Does `first`, and whatever has come meanwhile, and puts the encoders back.
  /// - Returns: when there is something to do next, if nothing happens before.
  private func perform(_ first: consuming State.Turn) -> Timestamp? {
    var turn = first
    while true {
      let deadline = encode(turn)
      guard let next = state.withLock({ $0.endTurn(turn.bench) }) else { return deadline }
      turn = next
    }
  }

  private func encode(_ turn: borrowing State.Turn) -> Timestamp? {
    turn.bench.apply(turn.decoding, released: turn.released)
    guard turn.isOpen else { return nil }
    var deadline: Timestamp?
    for index in encodings.indices {
      let due = encode(turn, by: index)
      deadline = [deadline, due].compactMap(\.self).min()
    }
    return deadline
  }

  private func encode(_ turn: borrowing State.Turn, by index: Int) -> Timestamp? {
    let encoder = turn.bench.encoders[index]
    encoder.stage.apply(turn.controls[index])
    if turn.isNewSource { encoder.stage.sourceChanged() }
    let start = MonotonicClock.now()
    var end = start
    var frame: EncodedFrame?
    if let (picture, replaced) = turn.picture {
      encoder.stage.noteReplaced(replaced)
      encoder.stage.take(picture, now: start)
      let converted = MonotonicClock.now()
      frame = encoder.stage.encode(now: converted)
      end = MonotonicClock.now()
      encoder.stage.noteWork(converting: converted - start, encoding: end - converted)
    } else {
      frame = encoder.stage.serve(now: start)
      if frame != nil {
        end = MonotonicClock.now()
        encoder.stage.noteWork(encoding: end - start)
      }
    }
    frame?.encodedTime = end
    // First, so that whoever has a frame finds it counted.
    let isKeyFrame = frame?.isKeyFrame ?? false
    let isRecorded = state.withLock { $0.note(encoder.stage.statistics, of: index, isKeyFrame: isKeyFrame) }
    if let frame {
      track.send(frame)
      if isRecorded { sinks.send(frame) }
    }
    for event in encoder.stage.takeEvents() { tell(event, of: index) }
    return encoder.stage.nextDeadline(now: end)
  }

  private func tell(_ event: EncoderEvent, of index: Int) {
    switch event {
    case .sizeChanged(let size): if index == 0 { report(.formatChanged(size)) }
    case .encoderFailed(let error): report(.encoderFailed("The encoder refused a frame: \(error)."))
    case .conversionFailed(let status):
      report(.encoderFailed("A frame could not be converted (libyuv status \(status))."))
    }
  }
}

// MARK: - State

/// The encoders, which travel together.
private final class EncoderBench: @unchecked Sendable {
  // Why unchecked: touched by one thread at a time, the one that took it out of `State.bench`.
  final class Encoder {
    var stage: EncodeStage
    init(_ encoding: VideoEncoding) {
      stage = EncodeStage(
        settings: encoding.settings, rendition: encoding.rendition, makeEncoder: encoding.makeEncoder)
    }
  }

  let encoders: [Encoder]
  /// What was last said to a source of encoded pictures; decoding is wanted at first.
  private var decoding: Decoding?

  init(_ encodings: [VideoEncoding]) { encoders = encodings.map { Encoder($0) } }

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
  /// What is wanted and what waits; held for moments only.
  private struct State {
    /// What one turn of work is about.
    struct Turn {
      let bench: EncoderBench
      var picture: (frame: VideoFrame, replaced: UInt64)?
      var isNewSource: Bool
      var controls: [EncoderControls]
      var decoding: Decoding?
      var released: [Passthrough]
      var isOpen: Bool
    }

    /// Nil while somebody works with the encoders.
    private var bench: EncoderBench?
    private var waiting = PictureMailbox()
    /// The run of a source that counts.
    private var source: ObjectIdentifier?
    private var hadSource = false
    private var isNewSource = false
    /// A picture came, so that there is something to encode without another.
    private(set) var hasPicture = false
    /// Something was wanted at once since the last turn began.
    var hasUrgentChange = false
    private(set) var isOpen = true
    /// One for each encoder.
    var controls: [EncoderControls]
    private(set) var statistics: [EncodingStatistics]
    private let encodings: [VideoEncoding]
    var demand = RenditionDemand()
    var isRecorded = false
    /// Where the source's own pictures go; nil when they are encoded here.
    private(set) var passthrough: Passthrough?
    /// Those before it, whose sources were not told yet to decode again.
    private(set) var released: [Passthrough] = []
    /// What the present source's own pictures came to.
    var passed: PassedPictures?
    var lastRendition: UInt32

    init(_ encodings: [VideoEncoding]) {
      self.encodings = encodings
      bench = EncoderBench(encodings)
      controls = encodings.map { EncoderControls($0.settings) }
      statistics = encodings.map { _ in EncodingStatistics() }
      lastRendition = encodings.map(\.rendition.number).max() ?? 0
    }

    // MARK: Turns

    /// Takes the encoders out, with all that waits; nil while somebody else has them.
    mutating func beginTurn() -> Turn? {
      guard let bench else { return nil }
      self.bench = nil
      return turn(with: bench)
    }

    /// Takes out what has come meanwhile, or puts the encoders back.
    mutating func endTurn(_ bench: EncoderBench) -> Turn? {
      if hasUrgentChange || !waiting.isEmpty { return turn(with: bench) }
      self.bench = bench
      return nil
    }

    private mutating func turn(with bench: EncoderBench) -> Turn {
      let picture = waiting.take()
      let turn = Turn(
        bench: bench, picture: picture, isNewSource: isNewSource && picture != nil, controls: controls,
        decoding: passthrough.map { Decoding(passthrough: $0, isWanted: controls.contains { $0.isActive }) },
        released: released, isOpen: isOpen)
      if picture != nil { isNewSource = false }
      released = []
      hasUrgentChange = false
      for index in controls.indices where controls[index].wantsKeyFrame { controls[index].wantsKeyFrame = false }
      return turn
    }

    /// Takes in what an encoder did.
    /// - Returns: whether its frames are recorded.
    mutating func note(_ new: EncodingStatistics, of index: Int, isKeyFrame: Bool) -> Bool {
      statistics[index] = new
      // It leaves after every request that has come until now, and serves whoever made one while it was in the making.
      if isKeyFrame { controls[index].wantsKeyFrame = false }
      return index == 0 && passthrough == nil
    }

    // MARK: Source

    mutating func beginSource(_ run: ObjectIdentifier) {
      source = run
      waiting.clear()
      isNewSource = hadSource
      hadSource = true
    }

    mutating func endSource(_ run: ObjectIdentifier) {
      guard source == run else { return }
      source = nil
      waiting.clear()
    }

    /// False for a picture of a run that does not count.
    mutating func post(_ frame: VideoFrame, from run: ObjectIdentifier) -> Bool {
      guard isOpen, source == run else { return false }
      waiting.post(frame)
      hasPicture = true
      return true
    }

    /// - Returns: the one before.
    mutating func setPassthrough(_ new: Passthrough?) -> Passthrough? {
      let old = passthrough
      passthrough = new
      if let old { released.append(old) }
      passed = new.map {
        PassedPictures(codec: $0.format.codec, size: $0.format.size, frames: passed?.frames ?? 0)
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

    /// Encodes while somebody takes the result, for the viewer with the best network: those with a worse one get fewer
    /// frames, so that one slow viewer does not blur the picture of all.
    /// - Returns: true when something is to be done at once.
    @discardableResult
    mutating func updateControls() -> Bool {
      var isUrgent = false
      for (index, encoding) in encodings.enumerated() {
        let rendition = encoding.rendition
        let isWanted =
          demand.renditions.contains(rendition) || (isRecorded && index == 0 && passthrough == nil)
        isUrgent = isUrgent || isWanted != controls[index].isActive
        controls[index].isActive = isWanted
        controls[index].keepsColorSpace = !demand.withoutColorSpace.contains(rendition)
        controls[index].bitrate = demand.bitrates[rendition] ?? encoding.settings.startBitrate
      }
      return isUrgent
    }
  }
}
