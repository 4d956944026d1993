import RTCConvert
package import RTCMedia
package import RTCPrimitives

/// What others want of a pipeline; gathered between frames, taken over before each.
package struct EncoderControls: Sendable {
  package var bitrate: BitRate
  package var bitrates: ClosedRange<BitRate>
  package var maxFrameRate: Double
  package var contentHint: ContentHint
  package var isActive: Bool
  package var wantsKeyFrame = false
  /// Every viewer can be told of another matrix than BT.601, so that such pictures need no conversion.
  package var keepsColorSpace = false

  package init(_ settings: PipelineSettings) {
    bitrate = settings.startBitrate
    bitrates = settings.bitrates
    maxFrameRate = settings.maxFrameRate
    contentHint = settings.contentHint
    isActive = settings.isActive
  }
}

/// The work of a pipeline without its threads: convert, encode, refine. Used by one thread at a time.
package struct EncodeStage: ~Copyable {
  package private(set) var statistics = PipelineStatistics()

  private let settings: PipelineSettings
  private let makeEncoder: VideoEncoderFactory
  private let clock: @Sendable () -> Timestamp
  private let report: @Sendable (PipelineEvent) -> Void

  private var orders: EncoderControls
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
  private var lastFrame: Timestamp?
  /// The newest time given to an encoded frame; those of another source may begin before it.
  private var lastCapture = Timestamp.zero
  private var lastKeyFrame: Timestamp?
  private var encodedCount: UInt64 = 0

  package init(
    settings: PipelineSettings, makeEncoder: @escaping VideoEncoderFactory,
    clock: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (PipelineEvent) -> Void
  ) {
    self.settings = settings
    self.makeEncoder = makeEncoder
    self.clock = clock
    self.report = report
    orders = EncoderControls(settings)
    statistics.contentHint = settings.contentHint
  }

  /// Takes over what is wanted from now on. A wanted key frame stays wanted until it was made.
  package mutating func obey(_ new: EncoderControls) {
    let wasActive = orders.isActive
    let pending = orders.wantsKeyFrame
    orders = new
    orders.wantsKeyFrame = new.isActive && (new.wantsKeyFrame || pending || !wasActive)
    orders.bitrate = min(max(new.bitrate, new.bitrates.lowerBound), new.bitrates.upperBound)
    // A viewer's first picture shows everything, whatever was told to the encoder before.
    if !wasActive && new.isActive { untold = nil }
  }

  /// The next frame comes from another source.
  package mutating func sourceChanged() {
    untold = nil
    pictureIsCurrent = false
    isNewSource = true
  }

  /// Converts and encodes a captured frame; nil when there is nothing to send.
  package mutating func consume(_ frame: VideoFrame) -> EncodedFrame? {
    let now = clock()
    lastFrame = now
    statistics.framesCaptured += 1
    statistics.captureTime = statistics.captureTime + (now - frame.captureTime)
    rotation = frame.rotation
    frameHint = frame.contentHint
    guard let encoder = preparedEncoder(for: frame.size), takePixels(of: frame, encoder) else { return nil }
    let converted = clock()
    statistics.convertTime = statistics.convertTime + (converted - now)
    guard orders.isActive else { return nil }
    let wantsKeyFrame = isNewSource || isKeyFrameDue(converted)
    isNewSource = false
    let hasChanged = untold?.isEmpty != true
    guard hasChanged || wantsKeyFrame else { return nil }
    let encoded = encode(encoder, captureTime: frame.captureTime, keyFrame: wantsKeyFrame)
    if encoded == nil { statistics.framesDropped += 1 }
    return encoded
  }

  /// Does what is due while the source rests: key frames that were asked for, and refinement.
  package mutating func serve() -> EncodedFrame? {
    guard orders.isActive, statistics.size != nil, let encoder else { return nil }
    let now = clock()
    if isKeyFrameDue(now) { return encode(encoder, captureTime: now, keyFrame: true) }
    guard let due = refinementTime(now), due <= now else { return nil }
    let refined = attempt(encoder) { encoder throws(VideoEncoderError) in try encoder.refine(now: now) }
    if refined != nil { statistics.refinements += 1 }
    return refined
  }

  /// When `serve` has something to do next; nil = not before something else happens.
  package func nextDeadline() -> Timestamp? {
    guard orders.isActive, statistics.size != nil else { return nil }
    let now = clock()
    let refinement = refinementTime(now)
    guard orders.wantsKeyFrame else { return refinement }
    return min(keyFrameTime, refinement ?? .distantFuture)
  }

  // MARK: - Deadlines

  private var keyFrameTime: Timestamp {
    guard let lastKeyFrame else { return .zero }
    return lastKeyFrame + .seconds(1 / max(1, orders.maxFrameRate))
  }

  private func isKeyFrameDue(_ now: Timestamp) -> Bool { orders.wantsKeyFrame && now >= keyFrameTime }

  private func refinementTime(_ now: Timestamp) -> Timestamp? {
    guard let due = encoder?.refinementTime(now: now) else { return nil }
    let interval = TimeDelta.seconds(1 / max(1, orders.maxFrameRate))
    // While frames of a screen come, a refinement fits between two of them; it takes a few milliseconds. A film is
    // refined when it rests: between its frames the next is worth more.
    let isFilm = encoder?.settings.contentHint == .motion
    let pause = isFilm ? max(settings.restDelay, interval + interval / 2) : min(settings.restDelay, interval / 2)
    return max(due, (lastFrame ?? .zero) + pause)
  }

  // MARK: - Work

  private mutating func preparedEncoder(for source: PixelSize) -> (any VideoEncoder)? {
    var wanted = VideoEncoderSettings(
      size: settings.codedSize(of: source), contentHint: frameHint ?? orders.contentHint,
      maxFrameRate: orders.maxFrameRate, targetBitrate: orders.bitrate)
    wanted.threads = settings.encoderThreads
    do {
      if let encoder {
        if encoder.settings.targetBitrate != orders.bitrate { encoder.setTargetBitrate(orders.bitrate) }
        if encoder.settings == wanted { return encoder }
        let isResized = encoder.settings.size != wanted.size
        try encoder.reconfigure(wanted)
        if isResized { forgetPicture(wanted.size) }
      } else {
        encoder = try makeEncoder(wanted)
        forgetPicture(wanted.size)
      }
      statistics.contentHint = wanted.contentHint
      return encoder
    } catch {
      report(.encoderFailed(error))
      return nil
    }
  }

  private mutating func forgetPicture(_ size: PixelSize) {
    untold = nil
    pictureIsCurrent = false
    self.source = .inputPicture
    statistics.size = size
    report(.sizeChanged(size))
  }

  /// Brings the pixels to where the encoder reads them; they are converted even while nobody watches, so that whoever
  /// comes sees the newest picture without the source's help.
  private mutating func takePixels(of frame: VideoFrame, _ encoder: any VideoEncoder) -> Bool {
    let isOther = frame.colorSpace == .bt709Limited
    let isReadable =
      frame.buffer.format == .i420 && (!isOther || orders.keepsColorSpace) && frame.colorSpace != .bt709Full
    let byReference = frame.damage == nil && isReadable && frame.size == encoder.settings.size
    codeIn(byReference && isOther ? .bt709Limited : .bt601Limited)
    if byReference {
      source = .frame(frame)
      pictureIsCurrent = false
      untold = nil
      return true
    }
    do {
      let damage = pictureIsCurrent ? frame.damage : nil
      let changed = try converter.convert(frame, rects: damage, into: encoder.picture)
      source = .inputPicture
      pictureIsCurrent = true
      statistics.rawCopies = converter.extraPasses
      guard let changed, let before = untold else {
        untold = nil
        return true
      }
      // While nobody watches the list would only grow.
      untold = before.count + changed.count > 256 ? nil : before + changed
      return true
    } catch {
      pictureIsCurrent = false
      guard case .library(let status) = error else { return false }
      report(.conversionFailed(status: status))
      return false
    }
  }

  private mutating func codeIn(_ new: ColorSpace) {
    guard new != colorSpace else { return }
    colorSpace = new
    isNewSource = true
    untold = nil
  }

  private mutating func encode(
    _ encoder: any VideoEncoder, captureTime: Timestamp, keyFrame: Bool
  ) -> EncodedFrame? {
    let job = EncodeJob(
      source: source, changed: untold, keyFrame: keyFrame, captureTime: captureTime, now: clock(), rotation: rotation)
    untold = []
    return attempt(encoder) { encoder throws(VideoEncoderError) in try encoder.encode(job) }
  }

  private mutating func attempt(
    _ encoder: any VideoEncoder, _ work: (any VideoEncoder) throws(VideoEncoderError) -> EncodedFrame?
  ) -> EncodedFrame? {
    if encoder.settings.targetBitrate != orders.bitrate { encoder.setTargetBitrate(orders.bitrate) }
    let start = clock()
    do {
      let result = try work(encoder)
      let end = clock()
      statistics.encodeTime = statistics.encodeTime + (end - start)
      guard var frame = result else { return nil }
      frame.encodedTime = end
      frame.captureTime = max(frame.captureTime, lastCapture + .microseconds(100))
      lastCapture = frame.captureTime
      frame.colorSpace = colorSpace == .bt709Limited ? colorSpace : nil
      frame.number = encodedCount
      encodedCount += 1
      count(frame, at: start)
      return frame
    } catch {
      // The next captured frame gets a new encoder, whose first frame is a key frame; the old one's state is unknown.
      self.encoder = nil
      orders.wantsKeyFrame = false
      report(.encoderFailed(error))
      return nil
    }
  }

  private mutating func count(_ frame: EncodedFrame, at time: Timestamp) {
    statistics.framesEncoded += 1
    statistics.bytesEncoded += UInt64(frame.data.count)
    statistics.quantizer = frame.quantizer
    guard frame.isKeyFrame else { return }
    statistics.keyFrames += 1
    lastKeyFrame = time
    orders.wantsKeyFrame = false
  }
}
