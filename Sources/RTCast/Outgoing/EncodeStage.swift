import RTCConvert
package import RTCMedia
package import RTCPrimitives

/// What is wanted of an encoder; gathered while it works, taken over before each frame.
package struct EncoderControls: Hashable, Sendable {
  package var bitrate: BitRate
  package var bitrates: ClosedRange<BitRate>
  package var maxFrameRate: Double
  package var contentHint: ContentHint
  package var isActive: Bool
  package var wantsKeyFrame = false
  /// When what was encoded before has been sent.
  package var drained = Timestamp.zero
  /// Viewers of the side rung wait for a key frame: it is made where it costs those who watch next to nothing.
  package var awaitsHandover = false
  /// Every viewer can be told of another matrix than BT.601, so that such pictures need no conversion.
  package var keepsColorSpace = false

  package init(_ settings: EncodingSettings) {
    bitrate = settings.startBitrate
    bitrates = settings.bitrates
    maxFrameRate = settings.maxFrameRate
    contentHint = settings.contentHint
    isActive = settings.isActive
  }
}

/// One encoder and what brings pictures to it: convert, encode, refine. A machine without threads or clock: `now` comes
/// with each call. Used by one thread at a time.
package struct EncodeStage: ~Copyable {
  package private(set) var statistics = EncodingStatistics()

  private var settings: EncodingSettings
  private var makeEncoder: VideoEncoderFactory
  private let rendition: Rendition

  private var controls: EncoderControls
  private var encoder: (any VideoEncoder)?
  private var converter = FrameConverter()
  private var source = EncodeJob.Source.inputPicture
  private var rotation = VideoRotation.none
  /// What the encoder's pictures are in; changes with a key frame only.
  private var colorSpace = ColorSpace.bt601Limited
  private var frameHint: ContentHint?
  /// What the encoder was not told of yet; nil = everything.
  private var untold: [PixelRect]?
  /// False while the encoder's input picture is older than `source`.
  private var pictureIsCurrent = false
  /// The next frame is the first of another source or matrix: a key frame, whatever else is wanted.
  private var isNewSource = false
  /// When the newest picture was taken out of a source that is not encoded yet.
  private var unencoded: Timestamp?
  private var lastFrame: Timestamp?
  /// The newest time given to an encoded frame; those of another source may begin before it.
  private var lastCapture = Timestamp.zero
  private var lastKeyFrame: Timestamp?
  private var coverage = ChangeCoverage()
  /// When nearly the whole picture changed last.
  private var lastBroadChange: Timestamp?
  /// Since when a key frame is awaited.
  private var awaitedSince: Timestamp?
  /// What the last picture changed in the encoder's; nil = everything.
  private var lastChange: [PixelRect]?
  private var encodedCount: UInt64 = 0
  private var events: [EncoderEvent] = []
  /// What gives way.
  private var policy = DegradationPolicy()
  private var toldDecision = DegradationPolicy.Decision()
  /// The size pictures have while nothing gives way.
  private var unscaledSize = PixelSize(width: 0, height: 0)

  /// Between two key frames of a film that are made for a handover.
  private static let handoverInterval = TimeDelta.seconds(30)
  /// So long somebody must have waited for the latter: who has just come has just had a key frame.
  private static let handoverPatience = TimeDelta.seconds(5)
  /// Broad changes closer to each other than this are a movement, which is much cheaper without a key frame.
  private static let movementGap = TimeDelta.milliseconds(600)

  package init(
    settings: EncodingSettings, rendition: Rendition = .encoded, makeEncoder: @escaping VideoEncoderFactory
  ) {
    self.settings = settings
    self.makeEncoder = makeEncoder
    self.rendition = rendition
    controls = EncoderControls(settings)
    statistics.contentHint = settings.contentHint
  }

  /// Takes over what is wanted from now on. A wanted key frame stays wanted until it was made.
  package mutating func apply(_ new: EncoderControls) {
    let wasActive = controls.isActive
    let pending = controls.wantsKeyFrame
    controls = new
    controls.wantsKeyFrame = new.isActive && (new.wantsKeyFrame || pending || !wasActive)
    controls.bitrate = min(max(new.bitrate, new.bitrates.lowerBound), new.bitrates.upperBound)
    encoder?.setSendQueue(drained: new.drained)
    // A viewer's first picture shows everything, whatever was told to the encoder before, and comes at once.
    if !wasActive && new.isActive { (untold, lastKeyFrame) = (nil, nil) }
  }

  /// The next frame comes from another source.
  package mutating func sourceChanged() {
    untold = nil
    pictureIsCurrent = false
    isNewSource = true
  }

  /// Converts a captured frame to where the encoder reads it; `encode` follows. It is converted even while nobody watches,
  /// so that whoever comes sees the newest picture without the source's help.
  /// - Parameter isShared: it is another stage's picture, by `share`, and is read in place where it can be.
  package mutating func take(_ frame: VideoFrame, isShared: Bool = false, now: Timestamp) {
    lastFrame = now
    statistics.framesCaptured += 1
    statistics.captureTime = statistics.captureTime + (now - frame.captureTime)
    rotation = frame.rotation
    frameHint = frame.contentHint
    guard let encoder = preparedEncoder(for: frame.size), takePixels(of: frame, encoder, isShared: isShared) else {
      return
    }
    unencoded = frame.captureTime
  }

  /// The picture of `take`, as the encoder reads it, for another stage to read in place; nil before the first. Its memory
  /// changes with the next `take`, after which the reader is to be handed the new one before it does anything else.
  /// - Parameter isNext: the reader was handed the one before this.
  package func share(isNext: Bool) -> VideoFrame? {
    if case .frame(let frame) = source { return frame }
    guard pictureIsCurrent, let picture = encoder?.picture, let buffer = picture.share() else { return nil }
    return VideoFrame(
      buffer: buffer, captureTime: lastFrame ?? .zero, rotation: rotation, damage: isNext ? lastChange : nil,
      colorSpace: colorSpace, contentHint: frameHint)
  }

  /// The picture is another stage's, which will not keep it up to date any longer: keeps it as its own.
  package mutating func adopt() {
    guard case .frame(let frame) = source, let encoder, encoder.picture.copy(frame.buffer) else { return }
    source = .inputPicture
    pictureIsCurrent = true
  }

  /// Lets go of the encoder and of all memory, until the next `take`.
  package mutating func release() {
    encoder = nil
    converter = FrameConverter()
    source = .inputPicture
    (pictureIsCurrent, untold, unencoded) = (false, nil, nil)
  }

  /// Goes on with another encoder, whose first frame is a key frame of the picture there is. A finer chroma comes with the next
  /// picture alone: what was sampled away does not come back.
  package mutating func recode(chroma: ChromaSampling, by makeEncoder: @escaping VideoEncoderFactory) {
    let isFiner = chroma == .full && settings.chroma != .full
    // Pictures that give way in size are made anew from the source's next.
    let picture = isFiner || policy.decision.scale != .full ? nil : share(isNext: false)
    (settings.chroma, self.makeEncoder) = (chroma, makeEncoder)
    release()
    (lastKeyFrame, controls.wantsKeyFrame) = (nil, controls.isActive)
    guard let picture, let encoder = preparedEncoder(for: picture.size),
      takePixels(of: picture, encoder, isShared: true)
    else { return }
    adopt()
  }

  /// How the encoder samples colours.
  package var chroma: ChromaSampling { settings.chroma }

  /// There is an encoder.
  package var isPrepared: Bool { encoder != nil }

  /// Frames from now on are newer than this, which viewers may have been sent of another encoder.
  package mutating func follow(_ captureTime: Timestamp) { lastCapture = max(lastCapture, captureTime) }

  /// When the newest frame was taken.
  package var newestCapture: Timestamp { lastCapture }

  /// Pictures that a newer one replaced before they were taken here; their changes came with it.
  package mutating func noteReplaced(_ count: UInt64) {
    statistics.framesCaptured += count
    statistics.framesDropped += count
  }

  /// Encodes what `take` brought; nil when there is nothing to send.
  package mutating func encode(now: Timestamp) -> EncodedFrame? {
    guard let captureTime = unencoded else { return nil }
    unencoded = nil
    guard controls.isActive, let encoder else { return nil }
    let wantsKeyFrame = isNewSource || isKeyFrameDue(now) || isHandoverCheap(encoder, now)
    isNewSource = false
    let hasChanged = untold?.isEmpty != true
    guard hasChanged || wantsKeyFrame else { return nil }
    policy.captured(encoder.settings.contentHint, now: now)
    tellDecision()
    let encoded = encode(encoder, captureTime: captureTime, keyFrame: wantsKeyFrame, now: now)
    if encoded == nil { statistics.framesDropped += 1 }
    return encoded
  }

  /// Does what is due while the source rests: key frames that were asked for, and refinement.
  package mutating func serve(now: Timestamp) -> EncodedFrame? {
    guard controls.isActive, statistics.size != nil, let encoder else { return nil }
    policy.advance(encoder.settings.contentHint, now: now)
    tellDecision()
    if isKeyFrameDue(now) { return encode(encoder, captureTime: now, keyFrame: true, now: now) }
    guard let due = refinementTime(now), due <= now else { return nil }
    let refined = attempt(encoder, now: now) { encoder throws(VideoEncoderError) in try encoder.refine(now: now) }
    if refined != nil { statistics.refinements += 1 }
    return refined
  }

  /// When `serve` has something to do next; nil = not before something else happens.
  package func nextDeadline(now: Timestamp) -> Timestamp? {
    guard controls.isActive, statistics.size != nil else { return nil }
    let refinement = [refinementTime(now), isPrepared ? policy.deadline : nil].compactMap(\.self).min()
    guard controls.wantsKeyFrame else { return refinement }
    return min(keyFrameTime, refinement ?? .distantFuture)
  }

  /// What happened since the last call.
  package mutating func takeEvents() -> [EncoderEvent] {
    guard !events.isEmpty else { return [] }
    defer { events.removeAll() }
    return events
  }

  /// Adds to the times that conversion and encoding took, which only the owner's clock knows.
  package mutating func noteWork(converting: TimeDelta = .zero, encoding: TimeDelta = .zero) {
    statistics.convertTime = statistics.convertTime + converting
    statistics.encodeTime = statistics.encodeTime + encoding
  }

  // MARK: - Deadlines

  private var keyFrameTime: Timestamp { lastKeyFrame.map { $0 + settings.keyFrameInterval } ?? .zero }

  private func isKeyFrameDue(_ now: Timestamp) -> Bool { controls.wantsKeyFrame && now >= keyFrameTime }

  /// Whether the next frame had better be a key frame, for those who wait for one: nearly the whole picture is new, and not
  /// moving. A film has no such moments that its damage would tell of, and never rests.
  private mutating func isHandoverCheap(_ encoder: any VideoEncoder, _ now: Timestamp) -> Bool {
    let isBroad = coverage.isBroad(adding: untold, of: encoder.settings.size, now: now)
    let isMoving = isBroad && lastBroadChange.map { now - $0 < Self.movementGap } ?? false
    if isBroad { lastBroadChange = now }
    guard controls.awaitsHandover else {
      awaitedSince = nil
      return false
    }
    awaitedSince = awaitedSince ?? now
    guard encoder.settings.contentHint == .motion else { return isBroad && !isMoving }
    let sinceKeyFrame = lastKeyFrame.map { now - $0 } ?? Self.handoverInterval
    return sinceKeyFrame >= Self.handoverInterval && now - awaitedSince! >= Self.handoverPatience
  }

  /// A low frame rate is no reason to become sharp slowly.
  private static let longestPause = TimeDelta.milliseconds(17)

  private func refinementTime(_ now: Timestamp) -> Timestamp? {
    guard let due = encoder?.refinementTime(now: now) else { return nil }
    let interval = TimeDelta.seconds(1 / max(1, controls.maxFrameRate))
    // While frames of a screen come, a refinement fits between two of them; it takes a few milliseconds. A film is
    // refined when it rests: between its frames the next is worth more.
    let isFilm = encoder?.settings.contentHint == .motion
    let pause = isFilm ? max(settings.restDelay, interval + interval / 2) : min(Self.longestPause, interval / 2)
    return max(due, (lastFrame ?? .zero) + pause)
  }

  // MARK: - Work

  /// Says what gives way when that has changed. A new size is coded from the next picture on.
  private mutating func tellDecision() {
    let decision = policy.decision
    guard decision != toldDecision else { return }
    toldDecision = decision
    guard decision.isLimited else { return events.append(.limited(nil)) }
    var limitation = QualityLimitation(reason: .bandwidth, rate: controls.bitrate)
    limitation.frameRate = decision.frameRate
    limitation.isCoarse = decision.isCoarse
    if decision.scale != .full { limitation.size = decision.scale.applied(to: unscaledSize) }
    events.append(.limited(limitation))
  }

  private mutating func preparedEncoder(for source: PixelSize) -> (any VideoEncoder)? {
    unscaledSize = settings.codedSize(of: source)
    var wanted = VideoEncoderSettings(
      size: policy.decision.scale.applied(to: unscaledSize), contentHint: frameHint ?? controls.contentHint,
      maxFrameRate: controls.maxFrameRate, targetBitrate: controls.bitrate)
    wanted.threads = settings.encoderThreads
    wanted.chroma = settings.chroma
    wanted.scalabilityMode = settings.scalabilityMode
    do {
      if let encoder {
        if encoder.settings.targetBitrate != controls.bitrate { encoder.setTargetBitrate(controls.bitrate) }
        if encoder.settings == wanted { return encoder }
        let isResized = encoder.settings.size != wanted.size
        try encoder.reconfigure(wanted)
        if isResized { forgetPicture(wanted.size) }
      } else {
        let made = try makeEncoder(wanted)
        made.setSendQueue(drained: controls.drained)
        encoder = made
        forgetPicture(wanted.size)
      }
      statistics.contentHint = wanted.contentHint
      return encoder
    } catch {
      events.append(.encoderFailed(error))
      return nil
    }
  }

  private mutating func forgetPicture(_ size: PixelSize) {
    untold = nil
    pictureIsCurrent = false
    self.source = .inputPicture
    guard statistics.size != size else { return }
    statistics.size = size
    events.append(.sizeChanged(size))
  }

  /// Brings the pixels to where the encoder reads them.
  private mutating func takePixels(of frame: VideoFrame, _ encoder: any VideoEncoder, isShared: Bool) -> Bool {
    // Limited range is what decoders expect of a codec that cannot say so; another matrix can be said beside it, but not
    // against what the bitstream says.
    let keepsColorSpace = controls.keepsColorSpace && encoder.codec == .vp8
    let isReadable =
      frame.buffer.format == encoder.picture.format && frame.size == encoder.settings.size
      && frame.colorSpace.range == .limited && (frame.colorSpace.matrix == .bt601 || keepsColorSpace)
    let byReference = isReadable && (isShared || frame.damage == nil)
    codeIn(byReference ? frame.colorSpace : .bt601Limited)
    if byReference {
      source = .frame(frame)
      pictureIsCurrent = false
      note(changed: frame.damage)
      return true
    }
    do {
      let damage = pictureIsCurrent ? frame.damage : nil
      let changed = try converter.convert(frame, rects: damage, into: encoder.picture)
      source = .inputPicture
      pictureIsCurrent = true
      (statistics.framesConverted, statistics.rawCopies) = (converter.framesConverted, converter.extraPasses)
      note(changed: changed)
      return true
    } catch {
      pictureIsCurrent = false
      guard case .library(let status) = error else { return false }
      events.append(.conversionFailed(status: status))
      return false
    }
  }

  private mutating func note(changed: [PixelRect]?) {
    lastChange = changed
    guard let changed, let before = untold else { return untold = nil }
    // While nobody watches the list would only grow.
    untold = before.count + changed.count > 256 ? nil : before + changed
  }

  private mutating func codeIn(_ new: ColorSpace) {
    guard new != colorSpace else { return }
    colorSpace = new
    isNewSource = true
    untold = nil
  }

  private mutating func encode(
    _ encoder: any VideoEncoder, captureTime: Timestamp, keyFrame: Bool, now: Timestamp
  ) -> EncodedFrame? {
    let job = EncodeJob(
      source: source, changed: untold, keyFrame: keyFrame, captureTime: captureTime, now: now, rotation: rotation)
    untold = []
    return attempt(encoder, now: now) { encoder throws(VideoEncoderError) in try encoder.encode(job) }
  }

  private mutating func attempt(
    _ encoder: any VideoEncoder, now: Timestamp,
    _ work: (any VideoEncoder) throws(VideoEncoderError) -> EncodedFrame?
  ) -> EncodedFrame? {
    if encoder.settings.targetBitrate != controls.bitrate { encoder.setTargetBitrate(controls.bitrate) }
    do {
      guard var frame = try work(encoder) else { return nil }
      frame.rendition = rendition
      frame.captureTime = max(frame.captureTime, lastCapture + .microseconds(100))
      lastCapture = frame.captureTime
      frame.colorSpace = colorSpace == .bt601Limited ? nil : colorSpace
      frame.number = encodedCount
      encodedCount += 1
      count(frame, at: now)
      return frame
    } catch {
      // The next captured frame gets a new encoder, whose first frame is a key frame; the old one's state is unknown.
      self.encoder = nil
      controls.wantsKeyFrame = false
      events.append(.encoderFailed(error))
      return nil
    }
  }

  private mutating func count(_ frame: EncodedFrame, at time: Timestamp) {
    statistics.framesEncoded += 1
    statistics.bytesEncoded += UInt64(frame.data.count)
    statistics.quantizer = frame.quantizer
    policy.coded(coarseness: Double(frame.quantizer) / frame.codec.coarsestQuantizer)
    guard frame.isKeyFrame else { return }
    statistics.keyFrames += 1
    lastKeyFrame = time
    controls.wantsKeyFrame = false
  }
}

extension VideoCodec {
  /// The end of the scale in which the codec's frames say their quantiser.
  fileprivate var coarsestQuantizer: Double {
    switch self {
    case .vp8: 127
    case .h264: 51
    default: 255
    }
  }
}
