import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives

/// The work of one pass of the encoders: a picture, if one came, and the settings it is encoded with.
struct EncodingPass {
  /// The viewers for which a codec is chosen.
  struct Viewers: Equatable {
    var count = 0
    /// How many can take each of the candidates.
    var takers: [Int] = []
  }

  let encoders: RungEncoders
  /// The rungs in the order of this pass.
  var rungs: Rungs
  var picture: (frame: VideoFrame, replaced: UInt64)?
  var forecast: PictureForecast
  var isNewSource: Bool
  /// The source of the pictures before is not shown any more.
  var hasLostSource: Bool
  /// One for each encoder.
  var controls: [EncoderControls]
  var decoding: RungEncoders.Decoding?
  var released: [Passthrough]
  /// The video is recorded, which has nothing else.
  var isRecorded: Bool
  var isOpen: Bool
  var formats: [VideoPayloadFormat]
  var viewers: Viewers
  /// The main rung may be encoded with something else from now on.
  var mayChoose: Bool
  /// Refinement and changes leave rate to exact pixels that wait.
  var yieldsRate = false

  /// The time between two pictures of the source.
  func interval(of encoder: Int) -> TimeDelta { .seconds(1 / max(1, controls[encoder].maxFrameRate)) }
}

/// The settings of the encoders of `OutgoingVideo`, and the work that waits for them. Locked for moments only.
struct EncodingState {
  /// Nil while a thread works with the encoders.
  private var encoders: RungEncoders?
  private var waiting = PictureMailbox()
  /// The run of a source that counts.
  private var source: ObjectIdentifier?
  private var hadSource = false
  private var forecast = PictureForecast()
  private var isNewSource = false
  private var hasLostSource = false
  /// A picture came, so that there is something to encode without another.
  private(set) var hasPicture = false
  /// Something was wanted at once since the last pass began.
  var hasUrgentChange = false
  private(set) var isOpen = true
  /// One for each encoder.
  var controls: [EncoderControls]
  /// The rungs that have an encoder, as the track ordered them last.
  private(set) var rungs: Rungs
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
    rungs = Rungs(encodings.filter(\.isRung).map(\.rendition))
    encoders = RungEncoders(encodings, selection)
    controls = encodings.map { EncoderControls($0.settings) }
    statistics = encodings.map { _ in EncodingStatistics() }
    lastRendition = encodings.map(\.rendition.number).max() ?? 0
  }

  // MARK: Passes

  /// Takes the encoders out, with all waiting work; nil while another thread has them.
  mutating func beginPass() -> EncodingPass? {
    guard let encoders else { return nil }
    self.encoders = nil
    return pass(of: encoders)
  }

  /// Takes the work that arrived meanwhile, or returns the encoders.
  mutating func endPass(_ encoders: RungEncoders) -> EncodingPass? {
    if hasUrgentChange || !waiting.isEmpty { return pass(of: encoders) }
    self.encoders = encoders
    return nil
  }

  private mutating func pass(of encoders: RungEncoders) -> EncodingPass {
    let picture = waiting.take()
    let pass = EncodingPass(
      encoders: encoders, rungs: rungs, picture: picture, forecast: forecast,
      isNewSource: isNewSource && picture != nil, hasLostSource: hasLostSource, controls: controls,
      decoding: passthrough.map {
        RungEncoders.Decoding(passthrough: $0, isWanted: isPreviewed || controls.contains { $0.isActive })
      },
      released: released, isRecorded: isRecorded, isOpen: isOpen, formats: formats,
      viewers: EncodingPass.Viewers(count: demand.viewers, takers: demand.takers),
      mayChoose: isChosen && !isRecorded && passthrough == nil)
    if picture != nil { isNewSource = false }
    hasLostSource = false
    released = []
    hasUrgentChange = false
    for index in controls.indices where controls[index].wantsKeyFrame { controls[index].wantsKeyFrame = false }
    return pass
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
    hasLostSource = true
    isNewSource = hadSource
    hadSource = true
  }

  mutating func endSource(_ run: ObjectIdentifier) {
    guard source == run else { return }
    source = nil
    forecast = PictureForecast()
    waiting.clear()
    hasLostSource = true
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

  /// The bitrate of an encoder for which no network sets one. A recording has room for the highest: a picture that is
  /// coded finely at once takes a fraction of the time, and about as many bytes, as one that is refined in steps.
  private func unmeasuredBitrate(of index: Int) -> BitRate {
    let settings = encodings[index].settings
    let isRoomy = isRecorded && index == main && settings.contentHint != .motion
    return isRoomy ? settings.bitrates.upperBound : settings.startBitrate
  }

  /// Whether viewers receive the source's own pictures, or there are no viewers.
  var isWatched: Bool {
    guard let passthrough else { return false }
    return demand.renditions.isEmpty || demand.renditions.contains(passthrough.rendition)
  }

  /// The encoder of a rung.
  func index(of rung: Rendition) -> Int { encodings.firstIndex { $0.rendition == rung } ?? 0 }

  /// The encoder of the main rung.
  var main: Int { index(of: rungs.main) }

  /// The encoders, the main rung's first.
  var inOrder: [Int] { rungs.all.map(index) + encodings.indices.filter { !encodings[$0].isRung } }

  /// Sets the encoders' controls by the track's demand.
  /// - Returns: true if there is work to do at once.
  @discardableResult
  mutating func updateControls() -> Bool {
    var isUrgent = false
    if let ordered = demand.rungs, ordered.all.allSatisfy(rungs.all.contains) { rungs = ordered }
    let main = main
    for (index, encoding) in encodings.enumerated() {
      let rendition = encoding.rendition
      let isWanted =
        demand.renditions.contains(rendition) || (isRecorded && index == main && passthrough == nil)
      isUrgent = isUrgent || isWanted != controls[index].isActive
      controls[index].isActive = isWanted
      controls[index].awaitsHandover = index == main && demand.awaitsHandover
      controls[index].keepsColorSpace = !demand.withoutColorSpace.contains(rendition)
      controls[index].drained = demand.drained[rendition] ?? .zero
      controls[index].bitrate = demand.bitrates[rendition] ?? unmeasuredBitrate(of: index)
    }
    return isUrgent
  }
}
