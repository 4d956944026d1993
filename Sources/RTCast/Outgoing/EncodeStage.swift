import RTCConvert
package import RTCMedia
package import RTCPrimitives

/// The settings of an encoder; collected while it works and applied before each frame.
package struct EncoderControls: Hashable, Sendable {
  package var bitrate: BitRate
  package var bitrates: ClosedRange<BitRate>
  package var maxFrameRate: Double
  package var contentHint: ContentHint
  package var isActive: Bool
  package var wantsKeyFrame = false
  /// The time at which the frames encoded so far will have been sent.
  package var drained = Timestamp.zero
  /// The time by which the source's next picture will have come; nil: none is expected.
  package var nextPicture: Timestamp?
  /// The time at which that expectation ends, unless something happens before; nil: never.
  package var forecastLapse: Timestamp?
  /// Viewers of the side rung wait for a key frame of this rung. It is made when it costs the present viewers almost
  /// nothing.
  package var awaitsHandover = false
  /// Whether all viewers support other matrices than BT.601, so that pictures need no conversion.
  package var keepsColorSpace = false

  package init(_ settings: EncodingSettings) {
    bitrate = settings.startBitrate
    bitrates = settings.bitrates
    maxFrameRate = settings.maxFrameRate
    contentHint = settings.contentHint
    isActive = settings.isActive
  }

  package mutating func expect(_ forecast: PictureForecast, now: Timestamp) {
    nextPicture = forecast.nextPicture(now: now)
    forecastLapse = forecast.lapse(now: now)
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
  /// The colour space of the encoder's pictures; changes with key frames only.
  private var colorSpace = ColorSpace.bt601Limited
  private var frameHint: ContentHint?
  /// Changes that the encoder has not received yet; nil = the whole picture.
  private var untold: [PixelRect]?
  /// False while the encoder's input picture is older than `source`.
  private var pictureIsCurrent = false
  /// The next frame is the first of another source or matrix, and must be a key frame.
  private var isNewSource = false
  /// When the newest picture was taken out of a source that is not encoded yet.
  private var unencoded: Timestamp?
  private var lastFrame: Timestamp?
  /// The newest time of an encoded frame; the times of another source may begin earlier.
  private var lastCapture = Timestamp.zero
  private var lastKeyFrame: Timestamp?
  private var coverage = ChangeCoverage()
  /// When nearly the whole picture changed last.
  private var lastBroadChange: Timestamp?
  /// Since when a key frame is awaited.
  private var awaitedSince: Timestamp?
  /// The rectangles that the last picture changed in the encoder's picture; nil = all.
  private var lastChange: [PixelRect]?
  private var encodedCount: UInt64 = 0
  private var events: [EncoderEvent] = []
  /// Decides which quality is reduced.
  private var policy = DegradationPolicy()
  private var toldDecision = DegradationPolicy.Decision()
  /// The size of pictures without degradation.
  private var unscaledSize = PixelSize(width: 0, height: 0)

  /// Between two key frames of a film that are made for a handover.
  private static let handoverInterval = TimeDelta.seconds(30)
  /// The minimum wait before a handover key frame: a viewer that has just joined has just received one.
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

  /// Applies new settings. A requested key frame stays requested until it is made.
  package mutating func apply(_ new: EncoderControls) {
    let wasActive = controls.isActive
    let pending = controls.wantsKeyFrame
    controls = new
    controls.wantsKeyFrame = new.isActive && (new.wantsKeyFrame || pending || !wasActive)
    controls.bitrate = min(max(new.bitrate, new.bitrates.lowerBound), new.bitrates.upperBound)
    encoder?.setSendQueue(drained: new.drained)
    encoder?.setNextPicture(by: new.nextPicture)
    // A viewer's first picture is complete, whatever the encoder received before, and is sent at once.
    if !wasActive && new.isActive { (untold, lastKeyFrame) = (nil, nil) }
  }

  /// The next frame comes from another source.
  package mutating func sourceChanged() {
    untold = nil
    pictureIsCurrent = false
    isNewSource = true
  }

  /// Converts a captured frame into the encoder's input; `encode` follows. The frame is converted even without viewers,
  /// so that a new viewer sees the newest picture without the source's help.
  /// - Parameter isShared: the picture belongs to another stage (see `share`), and is read in place where possible.
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

  /// The picture of `take`, as the encoder reads it, for another stage to read in place; nil before the first. The next
  /// `take` changes its memory; the reader must then get the new picture first.
  /// - Parameter isNext: the reader got the picture before this one.
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

  /// Releases the encoder and all memory until the next `take`.
  package mutating func release() {
    encoder = nil
    converter = FrameConverter()
    source = .inputPicture
    (pictureIsCurrent, untold, unencoded) = (false, nil, nil)
  }

  /// Switches to another encoder, whose first frame is a key frame of the present picture. Finer chroma begins with the
  /// source's next picture, since the present one is already subsampled.
  package mutating func recode(chroma: ChromaSampling, by makeEncoder: @escaping VideoEncoderFactory) {
    let isFiner = chroma == .full && settings.chroma != .full
    // Scaled-down pictures are remade from the source's next picture.
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

  /// Whether there is an encoder.
  package var isPrepared: Bool { encoder != nil }

  /// Frames from now on are newer than this, which viewers may have been sent of another encoder.
  package mutating func follow(_ captureTime: Timestamp) { lastCapture = max(lastCapture, captureTime) }

  /// When the newest frame was taken.
  package var newestCapture: Timestamp { lastCapture }

  /// Pictures that a newer one replaced before they were taken here; their changes came with it.
  package mutating func noteReplaced(_ count: UInt64) {
    statistics.framesCaptured += count
    statistics.leftOut.busy += count
  }

  /// Pictures that were replaced while they waited for the end of a movement, which viewers had exactly.
  package mutating func noteHeld(_ count: UInt64) {
    statistics.framesCaptured += count
    statistics.leftOut.exact += count
  }

  /// Encodes what `take` brought; nil when there is nothing to send.
  package mutating func encode(now: Timestamp) -> EncodedFrame? {
    guard let captureTime = unencoded else { return nil }
    unencoded = nil
    guard controls.isActive, let encoder else { return nil }
    let wantsKeyFrame = isNewSource || isKeyFrameDue(now) || isHandoverCheap(encoder, now)
    isNewSource = false
    let hasChanged = untold?.isEmpty != true
    guard hasChanged || wantsKeyFrame else {
      statistics.leftOut.unchanged += 1
      return nil
    }
    policy.captured(encoder.settings.contentHint, now: now)
    tellDecision()
    let encoded = encode(encoder, captureTime: captureTime, keyFrame: wantsKeyFrame, now: now)
    if encoded == nil { statistics.leftOut.bitrate += 1 }
    return encoded
  }

  /// Encodes requested key frames and refinement while the source delivers no pictures.
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

  /// A key frame was requested, and is made when the one before is old enough.
  package var isKeyFramePending: Bool { controls.isActive && controls.wantsKeyFrame }

  /// When `serve` has something to do next; nil = not before something else happens.
  package func nextDeadline(now: Timestamp) -> Timestamp? {
    guard controls.isActive, statistics.size != nil else { return nil }
    let refinement = [refinementTime(now), isPrepared ? policy.deadline : nil].compactMap(\.self).min()
    guard controls.wantsKeyFrame else { return refinement }
    return min(keyFrameTime, refinement ?? .distantFuture)
  }

  /// Events since the last call.
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

  /// Whether the next frame should be a key frame for waiting viewers: nearly the whole picture is new, and it is not
  /// moving. In a film, damage does not show such moments.
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
    guard var due = encoder?.refinementTime(now: now) else { return nil }
    // At the lapse the encoder's expectation of a next picture ends, so it may refine then.
    if let lapse = controls.forecastLapse, now < lapse { due = min(due, lapse) }
    let interval = TimeDelta.seconds(1 / max(1, controls.maxFrameRate))
    // Between frames of a screen there is time for a refinement of a few milliseconds. A film is refined only when it
    // stops: until then, time is better spent on the next frame.
    let isFilm = encoder?.settings.contentHint == .motion
    let pause = isFilm ? max(settings.restDelay, interval + interval / 2) : min(Self.longestPause, interval / 2)
    return max(due, (lastFrame ?? .zero) + pause)
  }

  // MARK: - Work

  /// Reports the present reduction of quality if it has changed. A new size takes effect with the next picture.
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
      }
      if !reconfigure(to: wanted) {
        let made = try makeEncoder(wanted)
        made.setSendQueue(drained: controls.drained)
        made.setNextPicture(by: controls.nextPicture)
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

  /// False if there is no encoder, or it cannot go on with these settings: another encoder of the codec may.
  private mutating func reconfigure(to wanted: VideoEncoderSettings) -> Bool {
    guard let encoder else { return false }
    let isResized = encoder.settings.size != wanted.size
    do {
      try encoder.reconfigure(wanted)
    } catch {
      self.encoder = nil
      return false
    }
    if isResized { forgetPicture(wanted.size) }
    return true
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
    // No encoder imports a DMA-BUF yet.
    do throws(DMABufferError) { try frame.buffer.map() } catch {
      pictureIsCurrent = false
      events.append(.pictureUnreadable(error))
      return false
    }
    // Decoders expect limited range of a codec that cannot signal another. Another matrix can be signaled outside the
    // bitstream, if the bitstream does not contradict it.
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
    // Without viewers the list would only grow.
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
    case .vp9, .av1: 63
    }
  }
}
