package import RTCMedia
package import RTCPrimitives

/// An encoder made for screens, of any codec with a `BlockCoder`: changed blocks alone are coded, a large change first as
/// finely as the rate allows, and whatever is coarse is improved while the picture rests, until it is visually lossless.
///
/// The quantiser of every frame is chosen here, not by the codec's library: from the bits saved up (`BitBudget`) and the
/// expected cost (`ByteModel`). Of what each block was coded with `BlockMap` keeps account.
package final class BlockEncoder<Coder: BlockCoder>: VideoEncoder {
  /// The codec of `Coder`.
  package var codec: VideoCodec { Coder.codec }
  /// The settings of the coming frames; `reconfigure` and `setTargetBitrate` change them.
  package private(set) var settings: VideoEncoderSettings
  /// The picture to convert into; another object after `reconfigure` changed the size or the sampling.
  package private(set) var picture: InputPicture

  private var coder: Coder
  /// The matrix that the coder was created for; the samples are of limited range.
  private var matrix: ColorSpace.Matrix
  private var pictures: BlockPictures
  private var map: BlockMap
  private var budget: BitBudget
  private var model: ByteModel
  private var goals: QuantizerGoals
  /// The quantisers for a film in the picture, where frames matter more than sharpness.
  private var filmGoals: QuantizerGoals
  private var film = FilmDetector()
  private var rotation = VideoRotation.none
  private var needsKeyFrame = true
  /// Whether a picture was taken since the last start.
  private var hasPicture = false
  private var frameCount: UInt64 = 0
  /// The time of the last attempt to refine.
  private var lastAttempt: Timestamp?
  private var changes: ChangeHistory
  /// The quantiser of the last large change.
  private var movingQuantizer = Coder.scale.upperBound

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for pictures that the codec cannot code.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    matrix = .bt601
    coder = try Coder(settings, .bt601)
    self.settings = settings
    picture = InputPicture(format: settings.chroma == .full ? .i444 : .i420, size: settings.size)
    pictures = Self.pictures(settings)
    map = BlockMap(size: settings.size, group: Coder.group)
    budget = BitBudget(rate: settings.targetBitrate)
    changes = ChangeHistory(maxFrameRate: settings.maxFrameRate)
    model = ByteModel(Coder.costs(settings.chroma))
    goals = Coder.goals(settings)
    filmGoals = Coder.goals(settings.asFilm)
  }

  private static func pictures(_ settings: VideoEncoderSettings) -> BlockPictures {
    BlockPictures(
      size: settings.size, codedSize: Coder.codedSize(settings.size, settings.chroma), chroma: settings.chroma,
      group: Coder.group)
  }

  /// Changes any setting; another size or sampling makes the next frame a key frame, and so does what the codec needs one
  /// for.
  package func reconfigure(_ new: VideoEncoderSettings) throws(VideoEncoderError) {
    let old = settings
    try useCoder(for: new, matrix)
    if (new.size, new.chroma) != (old.size, old.chroma) {
      picture = InputPicture(format: new.chroma == .full ? .i444 : .i420, size: new.size)
      pictures = Self.pictures(new)
      map = BlockMap(size: new.size, group: Coder.group)
      model = ByteModel(Coder.costs(new.chroma))
      hasPicture = false
    }
    settings = new
    goals = Coder.goals(new)
    filmGoals = Coder.goals(new.asFilm)
    budget.setRate(new.targetBitrate)
    changes.setMaxFrameRate(new.maxFrameRate)
  }

  private func useCoder(for settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError) {
    guard self.matrix != matrix || !coder.suits(settings, matrix) else { return }
    coder = try Coder(settings, matrix)
    self.matrix = matrix
    needsKeyFrame = true
  }

  /// Sets the rate to stay within, from the next frame on.
  package func setTargetBitrate(_ rate: BitRate) {
    settings.targetBitrate = rate
    budget.setRate(rate)
  }

  /// Sets the time at which all frames made before will have left. While it is more than about 120 ms away, changes are
  /// left out; before it, nothing is refined.
  package func setSendQueue(drained: Timestamp) { budget.drained = drained }

  /// Codes the changes, as far as the bitrate allows. Returns nil when no frame is made; then the changes come with a
  /// later one. Throws `unsuitableFrame` for a frame given by reference that is not of the picture's format and size.
  package func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    var matrix = ColorSpace.Matrix.bt601
    if case .frame(let frame) = job.source {
      guard frame.buffer.format == picture.format, frame.size == settings.size else {
        throw .unsuitableFrame(frame.buffer.format, frame.size)
      }
      matrix = frame.colorSpace.matrix
    }
    try useCoder(for: settings, matrix)
    rotation = job.rotation
    budget.refill(now: job.now)
    take(job)
    if job.keyFrame || needsKeyFrame { return try encodeKeyFrame(captureTime: job.captureTime, now: job.now) }
    return try encodeChanges(captureTime: job.captureTime, now: job.now)
  }

  private func take(_ job: EncodeJob) {
    let said = map.blocks(in: hasPicture ? job.changed : nil, of: settings.size)
    let different = pictures.take(said, from: job.source, of: picture)
    let changed = hasPicture ? different : said
    map.markChanged(changed)
    for block in changed { map.setDetail(pictures.detail(of: block), of: block) }
    hasPicture = true
  }

  /// The time at which `refine` can next improve the picture within the bitrate, never before `now`; nil when nothing
  /// is left to improve.
  package func refinementTime(now: Timestamp) -> Timestamp? {
    guard !needsKeyFrame else { return hasPicture ? now : nil }
    var current = budget
    current.refill(now: now)
    let leftOut = map.changedExtent
    let bytes: Double
    if leftOut.count > 0 {
      let kind: ByteModel.Kind = leftOut.count > Limits.largeChange ? .fresh : .small
      bytes = min(model.bytes(kind, weight: leftOut.weight, quantizer: goals.coarsest), current.capacity * 0.8)
    } else if let stage = refinementStage(now) {
      bytes = min(stage.bytes, passBytes(now))
    } else if let begin = changes.restBegin, now < begin, map.hasRefinable(above: goals.finest) {
      return begin  // What changes now may rest then.
    } else {
      return nil
    }
    let affordable = max(
      current.time(of: bytes, now: now), leftOut.count > 0 ? budget.clearTime : refinementQueueEnd(now))
    // During a movement even an empty frame delays the next step of it.
    let isSmall = leftOut.count == 0 && !changes.isAtRest(now) && bytes < passBytes(now) / 3
    // The saved bits show how much of the rate a movement leaves.
    let isSaved = current.credit >= current.capacity * 0.8
    let interval =
      changes.isAtRest(now) || isSaved ? Limits.refinementInterval.rest : Limits.refinementInterval.movement
    return max(affordable, lastAttempt.map { $0 + (isSmall ? Limits.smallRefinementInterval : interval) } ?? now)
  }

  /// Improves a part of the picture, or codes changes that were left out; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    budget.refill(now: now)
    lastAttempt = now
    guard hasPicture else { return nil }
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.changedExtent.count > 0 { return try encodeChanges(captureTime: now, now: now) }
    let pass = passBytes(now)
    guard refinementQueueEnd(now) <= now, let stage = refinementStage(now),
      budget.credit >= min(stage.bytes, pass) * 0.99
    else { return nil }
    let allRests = changes.isAtRest(now)
    let allowed = allRests ? max(pass, min(budget.credit / 2, stage.bytes)) : pass
    var predicted = 0.0
    // While something moves, the next picture must not wait.
    let most = allRests ? Coder.refinementPass : Coder.refinementPass / 3
    map.select(stage.qualities, allRests: allRests, most: most, bytes: allowed) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    return try code(
      .refinement, quantizer: stage.quantizer, predicted: predicted, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// The bytes that one refinement waits for: a share of the rate small enough to keep the moving part of the picture
  /// moving.
  private func passBytes(_ now: Timestamp) -> Double {
    max(1200, Double(budget.rate.bytes(in: .milliseconds(changes.isAtRest(now) ? 100 : 40))))
  }

  /// The time at which the unsent bytes have shrunk to the number that a refinement waits for.
  private func refinementQueueEnd(_ now: Timestamp) -> Timestamp {
    changes.isAtRest(now) || settings.contentHint == .motion ? budget.drained : budget.drained - Limits.movementQueue
  }

  /// One step in which the resting picture is improved.
  private struct RefinementStage {
    /// The qualities of the blocks that take part.
    var qualities: ClosedRange<UInt8>
    /// The quantiser that the blocks are coded with.
    var quantizer: Int
    /// The bytes that all these blocks take together.
    var bytes: Double
  }

  /// The next step of refining the coarse blocks; nil when nothing is left. Each further step makes the whole dearer: a
  /// page of text takes 706 kB in one step, 776 kB in two, 910 kB in three. So there are three steps only where two
  /// would take very long.
  private func refinementStage(_ now: Timestamp) -> RefinementStage? {
    let weights = map.refinableWeights(allRests: changes.isAtRest(now))
    func stage(_ qualities: ClosedRange<UInt8>, to quantizer: Int) -> RefinementStage? {
      guard qualities.contains(where: { weights[Int($0)] > 0 }) else { return nil }
      let bytes = qualities.reduce(0.0) {
        $0 + model.refinementBytes(weight: weights[Int($1)], from: $1, to: quantizer)
      }
      return RefinementStage(qualities: qualities, quantizer: quantizer, bytes: bytes)
    }
    let last = BlockMap.coarsest
    guard goals.finest < last, let all = stage(UInt8(goals.finest + 1)...last, to: goals.finest) else {
      return stage(BlockMap.imperfect...BlockMap.imperfect, to: goals.perfect)
    }
    // If much is coarse, all blocks become readable before any becomes perfect. Blocks that change now and then beside
    // a movement are an exception: there are always some of them.
    guard goals.readable > goals.finest, all.bytes > Double(budget.rate.bytes(in: .milliseconds(250))),
      let readable = stage(UInt8(goals.readable + 1)...last, to: goals.readable),
      changes.isAtRest(now) || readable.bytes > passBytes(now) / 4
    else { return all }
    guard readable.bytes > Double(budget.rate.bytes(in: .seconds(Int64(4)))) else { return readable }
    guard goals.coarsest < last else { return readable }
    return stage(UInt8(goals.coarsest + 1)...last, to: goals.legible) ?? readable
  }

  /// The share of the rate that one frame has, in bytes.
  private var frameShare: Double { Double(budget.rate.bitsPerSecond) / 8 / max(1, settings.maxFrameRate) }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markUnseen()
    map.selectAll()
    let weight = map.changedExtent.weight
    // The first picture must not wait for a perfect one.
    let range = goals.finest...max(goals.finest, goals.coarsestFirst)
    let quantizer =
      model.quantizer(.key, weight: weight, budget: budget.firstPicture, in: range) ?? range.upperBound
    let predicted = model.bytes(.key, weight: weight, quantizer: quantizer)
    return try code(
      .key, quantizer: quantizer, predicted: predicted, isBlurred: isTooDear(predicted, quantizer),
      captureTime: captureTime, now: now)
  }

  private func encodeChanges(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    let (count, weight) = map.changedExtent
    guard count > 0, budget.clearTime <= now else { return nil }
    let isLarge = count > Limits.largeChange
    if isLarge, let scroll = findScroll() { return try encodeScroll(scroll, captureTime: captureTime, now: now) }
    let isMovement = isOfFilm(count, now) || isLarge
    let kind: ByteModel.Kind = !isMovement ? .small : changes.isMoving(now) ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    map.selectChanged()
    changes.note(isLarge: isMovement, now: now)
    if isMovement { movingQuantizer = quantizer }
    let predicted = model.bytes(kind, weight: weight, quantizer: quantizer)
    return try code(
      kind, quantizer: quantizer, predicted: predicted,
      isBlurred: kind == .fresh && isTooDear(predicted, quantizer), captureTime: captureTime, now: now)
  }

  /// Whether even the coarsest picture with its detail would take far longer than a first picture may: then it goes
  /// without.
  private func isTooDear(_ predicted: Double, _ quantizer: Int) -> Bool {
    quantizer == Coder.scale.upperBound && goals.finest < quantizer && predicted > 1.5 * budget.firstPicture
  }

  // MARK: - What only moved

  /// The blocks that scrolled, and by how many rows they were lower before; nil unless much of the change is a scroll.
  private func findScroll() -> (distance: Int, blocks: [Int])? {
    // Filters would change the moved blocks.
    guard !coder.hasFilters else { return nil }
    guard let scroll = pictures.scroll(map.changedBlocks), scroll.blocks.count >= Limits.leastMoved else { return nil }
    return scroll
  }

  /// Moves the pixels that viewers have, as fine as they are, and codes the new content beside them.
  private func encodeScroll(
    _ scroll: (distance: Int, blocks: [Int]), captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame? {
    let weight = map.weight(without: scroll.blocks)
    let unfilled = unfilled
    guard let quantizer = chooseRevealedQuantizer(weight: weight, unfilled: unfilled, now: now) else { return nil }
    changes.note(isLarge: true, now: now)
    movingQuantizer = quantizer
    pictures.move(scroll.blocks, by: scroll.distance)
    map.recordMoved(scroll.blocks, by: scroll.distance)
    map.selectChanged()
    let predicted = model.bytes(.revealed, weight: weight, quantizer: quantizer)
    // Coarse blocks are refined with the bits that are left; once all can be read, with hardly more than leave with the
    // frame.
    let isReadable = unfilled.map { $0 < goals.readable } ?? true
    let room = isReadable ? max(budget.capacity / 12, frameShare - predicted) : budget.capacity / 5
    let spare = min(budget.credit * 0.7 - predicted, room)
    let limit = (isReadable ? quantizer : max(quantizer, goals.readable)) + Limits.visibleStep
    let filled = map.addCoarse(above: limit, bytes: spare) { quality, weight in
      model.refinementBytes(weight: weight, from: quality, to: quantizer)
    }
    return try code(
      .revealed, quantizer: quantizer, predicted: predicted, filled: filled, scroll: scroll,
      captureTime: captureTime, now: now)
  }

  /// The next quantiser to which visible blocks are refined during a scroll, before new blocks become finer than that.
  /// In turn: legible, readable without effort, and as fine as a movement is at best. Nil when all blocks are as fine.
  private var unfilled: Int? {
    let weights = map.shownWeights()
    return [goals.legible, goals.readable, goals.finestMoving].first { quantizer in
      let bytes = BlockMap.qualities(coarserThan: quantizer + Limits.visibleStep).reduce(0.0) {
        $0 + model.refinementBytes(weight: weights[Int($1)], from: $1, to: quantizer)
      }
      return bytes > Double(budget.rate.bytes(in: Limits.fillingTime))
    }
  }

  /// The quantiser of the content that a scroll reveals. It is as fine as that of a resting picture where the rate has
  /// room for it, because the content is coded once and then only moves.
  ///
  /// - Parameter unfilled: the finest quantiser that is allowed; nil where all blocks are as fine as a movement is at
  ///   best.
  private func chooseRevealedQuantizer(weight: Double, unfilled: Int?, now: Timestamp) -> Int? {
    let found = chooseQuantizer(.revealed, weight: weight, finestRevealed: unfilled ?? 0, now: now)
    guard unfilled == nil, let found, found <= goals.finestMoving, goals.finest < found else { return found }
    return model.quantizer(.revealed, weight: weight, budget: budget.credit / 3, in: goals.finest...found) ?? found
  }

  /// Whether a change of so many blocks, which is no scroll, is of a film.
  private func isOfFilm(_ count: Int, _ now: Timestamp) -> Bool {
    guard count >= FilmDetector.leastBlocks else { return false }
    film.note(similarity: map.changedSimilarity, now: now)
    return film.isPlaying
  }

  /// The quantiser of the coming frame; nil when the frame had better be left out.
  private func chooseQuantizer(
    _ kind: ByteModel.Kind, weight: Double, finestRevealed: Int = 0, now: Timestamp
  ) -> Int? {
    if kind == .fresh { return chooseFirstQuantizer(weight: weight) }
    let share = frameShare
    // Only a part of the bits that are left is used: so a movement that goes on settles at exactly its share of the
    // rate.
    let part = kind == .small ? 0.9 : kind == .moving ? movingPart : 0.5
    let allowed = max(budget.credit * part, share / 2, 1200)
    // Slow steps leave bits and time, and leave the viewer time to read.
    let isSlowMovement = changes.isSlowMovement
    var finest = isSlowMovement ? min(goals.finestMoving, goals.finest + 4) : goals.finestMoving
    if kind == .small { finest = goals.finest }
    // Moving content keeps its quality. To show it much finer would cost as much as new content, and the next step
    // would pay.
    if kind == .moving { finest = max(finest, movingQuantizer - (isSlowMovement ? 12 : 3)) }
    if kind == .revealed { finest = max(finest, finestRevealed) }
    let isFilm = kind == .moving && film.isPlaying
    let range = finest...max(finest, isFilm ? filmGoals.coarsest : goals.coarsest)
    if let fitting = model.quantizer(kind, weight: weight, budget: allowed, in: range) { return fitting }
    let least = model.bytes(kind, weight: weight, quantizer: range.upperBound)
    // Half of the rate is for the text beside a film until the text can be read, and less until it is perfect.
    if isFilm, part < 0.5 {
      let isSaved = budget.credit >= budget.capacity * 0.8
      return isSaved || least <= budget.credit * part * 2 ? range.upperBound : nil
    }
    // A picture that costs more than can ever be saved is sent when the savings are full.
    if least <= max(budget.credit, share) { return range.upperBound }
    if isFilm || settings.contentHint == .motion {
      return budget.credit > -budget.capacity / 2 ? range.upperBound : nil
    }
    // If more steps of a movement are left out, the others become dearer, as each grows: so the movement goes on
    // coarser.
    let gap = changes.last.map { now - $0 } ?? Limits.longestGap
    guard gap >= Limits.longestGap || budget.credit >= budget.capacity * 0.8 else { return nil }
    let reach = budget.credit + Double(budget.rate.bytes(in: .milliseconds(gap < Limits.longestGap * 3 ? 100 : 200)))
    let lean = range.upperBound...max(range.upperBound, goals.coarsestFirst)
    return model.quantizer(kind, weight: weight, budget: reach, in: lean)
      ?? (budget.credit >= budget.capacity * 0.8 ? lean.upperBound : nil)
  }

  /// The share of the saved bits that a step of a movement may take. The smaller shares leave enough to sharpen what
  /// stands still beside the movement: quickly the blocks that cannot be read, then the rest.
  private var movingPart: Double {
    guard settings.contentHint != .motion else { return 0.5 }
    let weights = map.refinableWeights(allRests: false)[...Int(BlockMap.coarsest)]
    guard let coarsest = weights.lastIndex(where: { $0 > 0 }), coarsest > goals.finest else { return 0.5 }
    return coarsest > goals.readable ? 0.2 : 0.3
  }

  /// The quantiser of the first picture of something new: as fine as leaves within 200 ms on a slow link.
  private func chooseFirstQuantizer(weight: Double) -> Int? {
    let isSaved = budget.credit >= budget.capacity * 0.8
    let range = goals.finest...max(goals.finest, goals.coarsestFirst)
    let allowed = isSaved ? budget.firstPicture : budget.credit * 0.9
    return model.quantizer(.fresh, weight: weight, budget: allowed, in: range) ?? (isSaved ? range.upperBound : nil)
  }

  // MARK: - Coding

  private func code(
    _ kind: ByteModel.Kind, quantizer: Int, predicted: Double, filled: Double = 0,
    scroll: (distance: Int, blocks: [Int])? = nil, isBlurred: Bool = false, captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame {
    pictures.compose(map.active, isBlurred: isBlurred)
    var kept = map.active.map { !$0 }
    for block in scroll?.blocks ?? [] { kept[block] = false }
    let movement: BlockMovement = kind == .refinement ? .none : scroll.map { .scroll($0.distance) } ?? .unknown
    let output = try coder.encode(
      pictures.input, quantizer: quantizer, keyFrame: kind == .key, kept: kept, movement: movement)
    map.recordCoded(quantizer: UInt8(quantizer))
    let isWhole = scroll != nil || kind == .key || coder.hasFilters
    pictures.keepReconstruction(of: coder, active: map.active, isWhole: isWhole) { block in
      map.recordTouched(block, quantizer: UInt8(quantizer))
    }
    if quantizer <= goals.finest, quantizer > goals.perfect {
      map.findImperfect { pictures.isBlurred($0, beyond: Limits.meanSquareError) }
    }
    budget.spend(output.data.count, now: now)
    if !isBlurred {
      // Each of the two is taken to have cost its predicted part.
      let bytes = Double(output.data.count) / max(1, predicted + filled)
      model.learn(kind, bytes: Int(bytes * predicted), predicted: predicted)
      if filled > predicted { model.learn(.refinement, bytes: Int(bytes * filled), predicted: filled) }
    }
    if kind == .refinement || kind == .key { lastAttempt = now }
    needsKeyFrame = false
    defer { frameCount += 1 }
    var frame = EncodedFrame(
      codec: codec, data: output.data, isKeyFrame: output.isKeyFrame, size: pictures.input.size,
      captureTime: captureTime, encodedTime: now, quantizer: quantizer, rotation: rotation,
      contentHint: settings.contentHint, number: frameCount)
    frame.chroma = settings.chroma
    return frame
  }
}

private enum Limits {
  /// A change of more blocks than this counts as large: a movement or a new picture, not typing.
  static let largeChange = 400
  /// The least number of blocks for which a scroll is searched.
  static let leastMoved = 200
  /// The interval between refinements, so that they neither flood the receiver nor keep the processor busy: even an
  /// empty frame of 1080p takes some 6 ms.
  static let refinementInterval = (rest: TimeDelta.milliseconds(40), movement: TimeDelta.milliseconds(80))
  /// The time of unsent bytes that holds back no refinement: a movement that fills the link leaves something unsent at
  /// any time.
  static let movementQueue = TimeDelta.milliseconds(50)
  /// The interval between refinements of few blocks beside a movement.
  static let smallRefinementInterval = TimeDelta.milliseconds(500)
  /// The difference of quantisers up to which blocks need no filling in.
  static let visibleStep = 4
  /// The time to fill in blocks: blocks that need less at the target rate to become readable are filled in while the
  /// rest becomes finer.
  static let fillingTime = TimeDelta.milliseconds(50)
  /// The longest time that changes may be left out while they can be coded coarsely.
  static let longestGap = TimeDelta.milliseconds(95)
  /// The mean square error of luma at rest: 48 dB.
  static let meanSquareError = 1.0
}
