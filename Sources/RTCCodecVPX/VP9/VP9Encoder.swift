package import RTCMedia
package import RTCPrimitives
import RTCVideoCoding

/// VP9 by libvpx, made for screens, in profile 0 (4:2:0) and 1 (4:4:4). Only changed macroblocks are coded: a large
/// change first as finely as the rate allows. Coarse macroblocks are improved while the picture rests, until they are
/// visually lossless.
///
/// The quantiser of every frame is chosen here, not by libvpx: from the saved bits (`BitBudget`) and the expected cost
/// (`BitModel`). The result is measured (`BlockComparison`), so that no difference is coded that a viewer would not
/// see.
package final class VP9Encoder: VideoEncoder {
  /// Always VP9.
  package let codec = VideoCodec.vp9
  /// The settings of the coming frames; `reconfigure` and `setTargetBitrate` change them.
  package private(set) var settings: VideoEncoderSettings
  /// The picture to convert into; another object after `reconfigure` changed the size or the chroma.
  package private(set) var picture: InputPicture

  private var context: VP9Context
  private var map: MacroblockMap
  private var budget: BitBudget
  private var model: BitModel
  private var limits: QuantizerLimits
  /// The quantisers for a film in the picture, where frames matter more than sharpness.
  private var filmLimits: QuantizerLimits
  private var film = FilmDetector()
  private var source = EncodeJob.Source.inputPicture
  private var rotation = VideoRotation.none
  private var needsKeyFrame = true
  private var frameCount: UInt64 = 0
  /// The time of the last attempt to refine.
  private var lastAttempt: Timestamp?
  private var changes: ChangeHistory
  /// The approximate quantiser of the content that a movement finds in the picture before.
  private var movingQuality = 63
  /// The weight of the changes that were coded last.
  private var codedWeight = 0.0
  /// The time at which the newest frame was made, unless it repeats the one before: some receivers show a frame only
  /// when the next begins (aiortc).
  private var unfollowed: Timestamp?
  /// The number of the newest frame of the lowest layer.
  private var baseNumber: UInt64 = 0
  /// Whether the newest frame is of the upper layer: its changes are not in the picture that the next one is predicted
  /// from.
  private var endsInUpperLayer = false
  /// Whether changes were left out since the last frame because earlier frames had not left: the rate is lower than
  /// expected.
  private var isHeld = false

  /// The side, in macroblocks, of the 64×64 pixels that libvpx codes together.
  private static let superblock = 4
  /// A change of more macroblocks than this counts as large: a movement or a new picture, not typing.
  private static let largeChange = 400
  /// Macroblocks a refinement may code: some 20 ms of work at 1080p, after which a fresh change can be served.
  private static let refinementPass = 900
  /// Between refinements, so that they neither flood the receiver nor keep the processor busy.
  private static let refinementInterval = (rest: TimeDelta.milliseconds(30), movement: TimeDelta.milliseconds(90))
  /// A movement that fills the link leaves something unsent at any time: so much of it keeps no refinement waiting.
  private static let movementQueue = TimeDelta.milliseconds(50)
  /// How long changes may be left out while they can be coded coarsely.
  private static let longestGap = TimeDelta.milliseconds(95)
  /// Steps of a movement that are farther apart than this are all in the lowest layer: half of them would be too few.
  private static let layeredInterval = TimeDelta.milliseconds(70)
  /// A sample that is off by more may show a change, be it alone.
  private static let faintest = 8
  /// Macroblocks from which on a picture's movements are coded at a higher speed, the highest above so many a second.
  private static let (largePicture, leisure) = (4000, 15.0)

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    context = try VP9Context(settings: settings)
    self.settings = settings
    picture = Self.picture(settings)
    map = MacroblockMap(size: settings.size, superblock: Self.superblock)
    budget = BitBudget(rate: settings.targetBitrate)
    changes = ChangeHistory(maxFrameRate: settings.maxFrameRate)
    model = BitModel(settings.chroma == .full ? .vp9FullChroma : .vp9)
    limits = QuantizerLimits(vp9: settings)
    filmLimits = QuantizerLimits(vp9: settings.asFilm)
  }

  /// Name and version of the library, such as `libvpx v1.12.0`.
  package static var library: String { VP8Encoder.library }

  private static func picture(_ settings: VideoEncoderSettings) -> InputPicture {
    InputPicture(format: settings.chroma == .full ? .i444 : .i420, size: settings.size)
  }

  /// Changes any setting; another size, chroma, content hint or number of threads makes the next frame a key frame.
  package func reconfigure(_ new: VideoEncoderSettings) throws(VideoEncoderError) {
    let old = settings
    // Some of libvpx's settings hold for life, and a larger size does not fit into an encoder made for a smaller one.
    let isResized = new.size != old.size || new.chroma != old.chroma
    if isResized || new.scalabilityMode != old.scalabilityMode
      || (new.contentHint, new.threads) != (old.contentHint, old.threads)
    {
      context = try VP9Context(settings: new)
      needsKeyFrame = true
    }
    if isResized {
      picture = Self.picture(new)
      map = MacroblockMap(size: new.size, superblock: Self.superblock)
      model = BitModel(new.chroma == .full ? .vp9FullChroma : .vp9)
      source = .inputPicture
    }
    settings = new
    limits = QuantizerLimits(vp9: new)
    filmLimits = QuantizerLimits(vp9: new.asFilm)
    budget.setRate(new.targetBitrate)
    changes.setMaxFrameRate(new.maxFrameRate)
  }

  /// Sets the rate to stay within, from the next frame on.
  package func setTargetBitrate(_ rate: BitRate) {
    settings.targetBitrate = rate
    budget.setRate(rate)
  }

  /// Says when all that was made before will have left: changes are left out while that is more than about 120 ms
  /// away, and nothing is refined before.
  package func setSendQueue(drained: Timestamp) { budget.drained = drained }

  /// Codes what changed, as far as the bitrate allows; nil when no frame is made, then the changes come with a later
  /// one; throws `unsuitableFrame` for a frame given by reference that is not of the picture's format and size.
  package func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    if case .frame(let frame) = job.source {
      guard frame.buffer.format == picture.format, frame.size == settings.size else {
        throw .unsuitableFrame(frame.buffer.format, frame.size)
      }
    }
    source = job.source
    rotation = job.rotation
    budget.refill(now: job.now)
    map.markChanged(job.changed)
    if job.keyFrame || needsKeyFrame {
      weighChanges()
      return try encodeKeyFrame(captureTime: job.captureTime, now: job.now)
    }
    dismissUnchanged()
    weighChanges()
    return try encodeChanges(captureTime: job.captureTime, now: job.now)
  }

  /// When `refine` can next improve the picture within the bitrate, never before `now`; nil when nothing is left to
  /// improve.
  package func refinementTime(now: Timestamp) -> Timestamp? {
    guard !needsKeyFrame else { return now }
    map.chooseRefinable(allRests: changes.isAtRest(now))
    var current = budget
    current.refill(now: now)
    let leftOut = map.changedExtent
    let bytes: Double
    if leftOut.count > 0 {
      let kind: BitModel.Kind = leftOut.count > Self.largeChange ? .fresh : .small
      bytes = min(model.bytes(kind, weight: leftOut.weight, quantizer: limits.coarsest), current.capacity * 0.8)
    } else if let stage = refinementStage(now) {
      bytes = min(stage.bytes, passBytes(now))
    } else if let begin = changes.restBegin, now < begin, map.quality.contains(where: { $0 > limits.finest }) {
      return begin  // what changes now may rest then
    } else {
      return unfollowed.map { max(now, $0 + ChangeHistory.restTime) }
    }
    var affordable = max(
      current.time(of: bytes, now: now), leftOut.count > 0 ? budget.clearTime : refinementQueueEnd(now))
    if leftOut.count > 0 { affordable = max(affordable, stepTime) }
    // What is saved says how much of the rate a movement leaves.
    let isSaved = current.credit >= current.capacity * 0.8
    let interval = changes.isAtRest(now) || isSaved ? Self.refinementInterval.rest : Self.refinementInterval.movement
    return max(affordable, lastAttempt.map { $0 + interval } ?? now)
  }

  /// Improves a part of the picture, or codes changes that were left out, or repeats the picture once when nothing is
  /// left to improve; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    budget.refill(now: now)
    lastAttempt = now
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.changedExtent.count > 0 {
      return stepTime <= now ? try encodeChanges(captureTime: now, now: now) : nil
    }
    guard refinementQueueEnd(now) <= now else { return nil }
    map.chooseRefinable(allRests: changes.isAtRest(now))
    guard let stage = refinementStage(now) else { return try repeatPicture(now: now) }
    let pass = passBytes(now)
    guard budget.credit >= min(stage.bytes, pass) * 0.99 else { return nil }
    let allowed = changes.isAtRest(now) ? max(pass, min(budget.credit / 2, stage.bytes)) : pass
    var predicted = 0.0
    // While something moves, the next picture is not to wait.
    let most = changes.isAtRest(now) ? Self.refinementPass : Self.refinementPass / 3
    map.select(above: UInt8(stage.limit), most: most, bytes: allowed) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    return try code(
      .refinement, quantizer: stage.quantizer, speed: .thorough, predicted: predicted, captureTime: now, now: now)
  }

  /// A frame in which nothing is coded, some 60 bytes, behind the last one before a rest.
  private func repeatPicture(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard let unfollowed, now >= unfollowed + ChangeHistory.restTime else { return nil }
    map.selectNone()
    let output = try codePlanes(quantizer: limits.finest, keyFrame: false, filters: false, speed: .fast, isUpper: false)
    endsInUpperLayer = false
    budget.spend(output.data.count, now: now)
    self.unfollowed = nil
    return frame(output, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// Bytes that one refinement waits for: a share of the rate small enough to keep what the viewer sees moving.
  private func passBytes(_ now: Timestamp) -> Double {
    max(1200, Double(budget.rate.bytes(in: .milliseconds(changes.isAtRest(now) ? 80 : 40))))
  }

  /// When as little waits unsent as a refinement waits for.
  private func refinementQueueEnd(_ now: Timestamp) -> Timestamp {
    changes.isAtRest(now) || settings.contentHint == .motion ? budget.drained : budget.drained - Self.movementQueue
  }

  /// One step in which the resting picture is improved.
  private struct RefinementStage {
    /// Macroblocks coarser than this take part.
    var limit: Int
    /// The quantiser that the macroblocks are coded with.
    var quantizer: Int
    /// The bytes that all these macroblocks take together.
    var bytes: Double
  }

  /// The next step of refining the coarse macroblocks; nil when nothing is left.
  private func refinementStage(_ now: Timestamp) -> RefinementStage? {
    let weights = map.refinableWeights
    func stage(above limit: Int, to quantizer: Int) -> RefinementStage? {
      guard weights[(limit + 1)...].contains(where: { $0 > 0 }) else { return nil }
      var bytes = 0.0
      for quality in limit + 1...Int(MacroblockMap.changed) where weights[quality] > 0 {
        let from = UInt8(min(quality, CodingLevel.coarsestSharp))
        bytes += model.refinementBytes(weight: weights[quality], from: from, to: quantizer)
      }
      return RefinementStage(limit: limit, quantizer: quantizer, bytes: bytes)
    }
    // Few need that.
    guard let all = stage(above: limits.fine, to: limits.fine) else {
      return stage(above: limits.finest, to: limits.finest)
    }
    // Far to go: make everything readable before anything becomes perfect, but for what changes now and then beside a
    // movement: there is always some of it.
    guard limits.readable > limits.fine, all.bytes > Double(budget.rate.bytes(in: .milliseconds(250))),
      let readable = stage(above: max(limits.legible, limits.readable), to: limits.readable),
      changes.isAtRest(now) || readable.bytes > passBytes(now) / 4
    else { return all }
    guard budget.isSlow, readable.bytes > Double(budget.rate.bytes(in: .milliseconds(500))) else { return readable }
    return stage(above: max(limits.coarsest, limits.legible), to: limits.legible) ?? readable
  }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markChanged(nil)
    map.selectAll()
    let weight = map.changedExtent.weight
    // The first picture must not wait for a perfect one.
    let range = limits.fine...max(limits.fine, limits.coarsestBlurred)
    let quantizer = model.quantizer(.key, weight: weight, budget: budget.firstPicture, in: range) ?? range.upperBound
    let predicted = model.bytes(.key, weight: weight, quantizer: quantizer)
    return try code(.key, quantizer: quantizer, speed: .fast, predicted: predicted, captureTime: captureTime, now: now)
  }

  private func encodeChanges(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    let (count, weight) = map.changedExtent
    guard count > 0 else { return nil }
    guard budget.clearTime <= now else {
      isHeld = true
      return nil
    }
    let isLarge = isOfFilm(count, now) || count > Self.largeChange
    let kind: BitModel.Kind = !isLarge ? .small : changes.isMoving(now) ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    changes.note(isLarge: isLarge, now: now)
    map.selectChanged()
    let shown = map.shownQuality
    let predicted = predictedBytes(kind, weight: weight, quantizer: quantizer)
    codedWeight = weight
    // 1080p of text that scrolls takes 26, 39 and 55 ms of one core.
    let isHurried = settings.maxFrameRate > Self.leisure
    let speed: VP9Context.Speed = !isLarge || map.count < Self.largePicture ? .thorough : isHurried ? .fast : .usual
    let frame = try code(
      kind, quantizer: quantizer, speed: speed, predicted: predicted, captureTime: captureTime, now: now)
    // Much of it was found in the picture before: a movement begins, of what was as fine as it was.
    if kind == .fresh, Double(frame.data.count) < predicted / 3 { movingQuality = min(quantizer, shown) }
    return frame
  }

  /// Whether changes of so many macroblocks that are no scroll are of a film.
  private func isOfFilm(_ count: Int, _ now: Timestamp) -> Bool {
    guard count >= FilmDetector.leastBlocks else { return false }
    film.note(similarity: map.changedSimilarity, now: now)
    return film.isPlaying
  }

  /// The expected bytes of a frame. Moving content was coded before, and to show it finer than it was costs as much as
  /// that difference in new content.
  private func predictedBytes(_ kind: BitModel.Kind, weight: Double, quantizer: Int) -> Double {
    let bytes = model.bytes(kind, weight: weight, quantizer: quantizer)
    guard kind == .moving, quantizer < movingQuality else { return bytes }
    return bytes + model.upgradeBytes(weight: weight, from: movingQuality, to: quantizer)
  }

  /// The quantiser of the coming frame; nil when the frame had better be left out.
  private func chooseQuantizer(_ kind: BitModel.Kind, weight: Double, now: Timestamp) -> Int? {
    if kind == .fresh, budget.isSlow { return chooseFirstQuantizer(weight: weight) }
    let share = Double(budget.rate.bitsPerSecond) / 8 / max(1, settings.maxFrameRate)
    // A part of what is left: a movement that goes on settles at exactly its share of the rate.
    let part = kind == .moving ? movingPart : 0.9
    let allowed = max(budget.credit * part, share / 2, 1200)
    let isFilm = kind == .moving && film.isPlaying
    let finest =
      kind != .moving ? limits.fine : isHeld ? limits.coarsest : limits.finestMoving(isSlow: changes.isSlowMovement)
    let coarsest = kind == .fresh ? limits.coarsestFirst : isFilm ? filmLimits.coarsest : limits.coarsest
    let range = finest...max(finest, coarsest)
    let fitting = range.first { predictedBytes(kind, weight: weight, quantizer: $0) <= allowed }
    if let fitting { return fitting }
    let least = predictedBytes(kind, weight: weight, quantizer: coarsest)
    // Half of the rate is for the text beside a film until it can be read, and less until it is perfect.
    if isFilm, part < 0.5 {
      return budget.credit >= budget.capacity * 0.8 || least <= budget.credit * part * 2 ? coarsest : nil
    }
    // A picture dearer than all that can ever be saved goes out when the savings are full.
    if least <= max(budget.credit, share) { return coarsest }
    if isFilm || settings.contentHint == .motion { return budget.credit > -budget.capacity / 2 ? coarsest : nil }
    return chooseLeanQuantizer(kind, weight: weight, now: now)
  }

  /// The share of the saved bits that a step of a movement may take. The smaller shares leave enough to sharpen what
  /// stands still beside the movement: quickly the macroblocks that cannot be read, then the rest.
  private var movingPart: Double {
    let isSaved = budget.credit >= budget.capacity * 0.8
    guard settings.contentHint != .motion else { return isSaved ? 0.9 : 0.5 }
    map.chooseRefinable(allRests: false)
    guard let coarsest = map.refinableWeights.lastIndex(where: { $0 > 0 }), coarsest > limits.fine else {
      return isSaved ? 0.9 : 0.5
    }
    return coarsest > limits.readable ? 0.25 : 0.35
  }

  /// The quantiser of a step that becomes coarser than a movement should be: if more steps are left out, the others
  /// become dearer, as each grows.
  private func chooseLeanQuantizer(_ kind: BitModel.Kind, weight: Double, now: Timestamp) -> Int? {
    let gap = changes.last.map { now - $0 } ?? Self.longestGap
    let isSaved = budget.credit >= budget.capacity * 0.8
    guard gap >= Self.longestGap || isSaved else { return nil }
    let reach = budget.credit + Double(budget.rate.bytes(in: .milliseconds(gap < Self.longestGap * 3 ? 100 : 200)))
    let lean = limits.coarsest...max(limits.coarsest, limits.coarsestBlurred)
    let found = lean.first { predictedBytes(kind, weight: weight, quantizer: $0) <= reach }
    return found ?? (isSaved ? lean.upperBound : nil)
  }

  /// The first picture of something new on a slow link: as much as leaves within 200 ms.
  private func chooseFirstQuantizer(weight: Double) -> Int? {
    let isSaved = budget.credit >= budget.capacity * 0.8
    let allowed = isSaved ? budget.firstPicture : budget.credit * 0.9
    let range = limits.fine...max(limits.fine, limits.coarsestBlurred)
    let found = model.quantizer(.fresh, weight: weight, budget: allowed, in: range)
    return found ?? (isSaved ? range.upperBound : nil)
  }

  // MARK: - Coding

  private func weighChanges() {
    switch source {
    case .inputPicture:
      let stride = picture.stride(ofPlane: 0)
      picture.withPlane(0) { map.weighChanged(luma: $0, stride: stride) }
    case .frame(let frame):
      map.weighChanged(luma: frame.buffer.bytes(ofPlane: 0), stride: frame.buffer.stride(ofPlane: 0))
    }
  }

  private func code(
    _ kind: BitModel.Kind, quantizer: Int, speed: VP9Context.Speed, predicted: Double, captureTime: Timestamp,
    now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame {
    let isFine = quantizer <= limits.readable && kind != .key
    let isUpper = kind == .moving && goesToUpperLayer
    let output = try codePlanes(
      quantizer: quantizer, keyFrame: kind == .key, filters: !isFine, speed: speed, isUpper: isUpper)
    // libvpx may find that one is needed.
    if output.isKeyFrame { map.selectAll() }
    endsInUpperLayer = isUpper && !output.isKeyFrame
    // To the next frame, what is in the upper layer has changed and was not coded.
    if !endsInUpperLayer {
      map.recordCoded(quantizer: UInt8(quantizer), smeared: false)
      measure(quantizer: UInt8(quantizer))
    }
    budget.spend(output.data.count, now: now)
    learn(kind, quantizer: quantizer, bytes: output.data.count, predicted: predicted)
    needsKeyFrame = false
    isHeld = false
    if kind == .refinement || kind == .key { lastAttempt = now }
    unfollowed = now
    return frame(output, captureTime: captureTime, now: now)
  }

  /// Until then the next step of the movement may bring what the upper layer alone has.
  private var stepTime: Timestamp {
    guard endsInUpperLayer, let last = changes.last else { return .zero }
    return last + Self.layeredInterval
  }

  /// Every other step of a fast movement.
  private var goesToUpperLayer: Bool {
    settings.scalabilityMode == .l1t2 && !endsInUpperLayer
      && changes.movementInterval.map { $0 < Self.layeredInterval } ?? false
  }

  private func frame(_ output: VPXEncoding.Output, captureTime: Timestamp, now: Timestamp) -> EncodedFrame {
    defer { frameCount += 1 }
    var frame = EncodedFrame(
      codec: codec, data: output.data, isKeyFrame: output.isKeyFrame, size: settings.size, captureTime: captureTime,
      encodedTime: now, quantizer: output.quantizerIndex, rotation: rotation, contentHint: settings.contentHint,
      number: frameCount)
    frame.chroma = settings.chroma
    guard settings.scalabilityMode == .l1t2 else { return frame }
    frame.references = .frames(output.isKeyFrame ? [] : [baseNumber])
    if endsInUpperLayer { frame.layer.temporal = 1 } else { baseNumber = frameCount }
    return frame
  }

  private func learn(_ kind: BitModel.Kind, quantizer: Int, bytes: Int, predicted: Double) {
    let upgrade = kind == .moving ? predicted - model.bytes(.moving, weight: codedWeight, quantizer: quantizer) : 0
    if upgrade > 1 {
      model.learnUpgrade(bytes: Double(bytes) - (predicted - upgrade), predicted: upgrade)
    } else {
      model.learn(kind, quantizer: quantizer, bytes: bytes, predicted: predicted)
    }
    switch kind {
    case .key, .fresh: movingQuality = quantizer
    // What is found moves on as it was; only what is not found becomes coarser.
    case .moving: movingQuality = min(quantizer, movingQuality + (max(0, quantizer - movingQuality) + 7) / 8)
    case .small, .refinement, .blurred: break
    }
  }

  private func codePlanes(
    quantizer: Int, keyFrame: Bool, filters: Bool, speed: VP9Context.Speed, isUpper: Bool
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    // The planes belong to `picture` or `source`, which this encoder holds.
    try unsafe context.encode(
      planes: sourcePlanes(), quantizer: quantizer, active: map.active, keyFrame: keyFrame, filters: filters,
      speed: speed, isUpper: isUpper)
  }

  @unsafe
  private func sourcePlanes() -> [VPXPlane] { unsafe VPXPlane.planes(of: source, picture) }

  // MARK: - Measuring

  /// The samples of plane `index` as viewers have them after the last frame, without gaps; empty before the first.
  package func shownSamples(_ index: Int) -> [UInt8] {
    let extent = picture.format.planeExtent(index, of: settings.size)
    return unsafe context.withReconstruction { planes in
      var samples: [UInt8] = []
      for row in 0..<extent.rows {
        let line = unsafe planes[index].base + row * planes[index].stride
        unsafe samples.append(contentsOf: UnsafeBufferPointer(start: line, count: extent.rowBytes))
      }
      return samples
    } ?? []
  }

  private func compare(_ body: (BlockComparison) -> Void) {
    let source = unsafe sourcePlanes()
    _ = unsafe context.withReconstruction { shown in
      body(unsafe BlockComparison(size: settings.size, chroma: settings.chroma, source: source, shown: shown))
    }
  }

  /// Records macroblocks as unchanged that were reported as changed and yet look as viewers have them.
  private func dismissUnchanged() {
    // The newest picture is not what the next is predicted from.
    guard !endsInUpperLayer else { return }
    compare { comparison in
      for index in 0..<map.count where map.quality[index] == MacroblockMap.changed {
        guard comparison.isClose(row: index / map.columns, column: index % map.columns, peak: Self.faintest) else {
          continue
        }
        map.record(index, quantizer: UInt8(limits.finest))
      }
    }
  }

  /// Finds macroblocks that need no refinement, however coarsely they were coded, and macroblocks that need it because
  /// they were coded, or filtered at their edge, along with their neighbours.
  private func measure(quantizer: UInt8) {
    let finest = UInt8(limits.finest)
    compare { comparison in
      for index in 0..<map.count {
        let (row, column) = (index / map.columns, index % map.columns)
        if map.active[index] == 1 {
          guard quantizer > finest, comparison.isClose(row: row, column: column) else { continue }
          map.record(index, quantizer: finest)
        } else if map.quality[index] < quantizer, isBesideActive(row, column),
          !comparison.isClose(row: row, column: column)
        {
          map.record(index, quantizer: quantizer)
        }
      }
    }
  }

  /// Whether a macroblock may be coded along with one that is active: they are in one superblock, or meet at an edge.
  private func isBesideActive(_ row: Int, _ column: Int) -> Bool {
    let (top, left) = (row / Self.superblock * Self.superblock, column / Self.superblock * Self.superblock)
    let bottom = min(top + Self.superblock, map.rows - 1)
    let right = min(left + Self.superblock, map.columns - 1)
    for line in top...bottom {
      for place in line * map.columns + left...line * map.columns + right where map.active[place] == 1 { return true }
    }
    return false
  }
}
