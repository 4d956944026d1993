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
  private var plan: RefinementPlan
  private var model: ByteModel
  private var rotation = VideoRotation.none
  private var needsKeyFrame = true
  /// Whether a picture was taken since the last start.
  private var hasPicture = false
  private var frameCount: UInt64 = 0
  /// The number of the newest frame of the lowest layer.
  private var baseNumber: UInt64 = 0
  /// Whether the coming frame is of the upper layer.
  private var isUpper = false
  /// Whether the newest frame is of the upper layer: its changes are not in the picture that the next one is predicted
  /// from.
  private var endsInUpperLayer = false
  /// The quantiser of the last large change.
  private var movingQuantizer = Coder.scale.upperBound

  private var goals: QuantizerGoals { plan.goals }

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for pictures that the codec cannot code.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    matrix = .bt601
    coder = try Coder(settings, .bt601)
    self.settings = settings
    picture = InputPicture(format: settings.chroma == .full ? .i444 : .i420, size: settings.size)
    pictures = Self.pictures(settings)
    map = BlockMap(size: settings.size, group: Coder.group)
    model = ByteModel(Coder.costs(settings.chroma))
    plan = RefinementPlan(settings, Self.pace, goals: Coder.goals)
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
    plan.reconfigure(new, goals: Coder.goals)
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
    plan.budget.setRate(rate)
  }

  /// Sets the time at which all frames made before will have left. While it is more than about 120 ms away, changes are
  /// left out; before it, nothing is refined.
  package func setSendQueue(drained: Timestamp) { plan.budget.drained = drained }

  /// Sets the time by which the next picture will have come. Until then, only parts of the picture are refined that the
  /// last pictures left alone.
  package func setNextPicture(by time: Timestamp?) { plan.setNextPicture(by: time) }

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
    plan.budget.refill(now: job.now)
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
    let leftOut = map.changedExtent
    if leftOut.count > 0 {
      let kind: ByteModel.Kind = leftOut.count > RefinementPlan.largeChange ? .fresh : .small
      let bytes = model.bytes(kind, weight: leftOut.weight, quantizer: goals.coarsest)
      return max(stepTime, plan.time(ofLeftOut: bytes, now: now))
    }
    if let stage = refinementStage(now) {
      return plan.time(ofRefinement: min(stage.bytes, plan.passBytes(now)), now: now)
    }
    // The parts that change now may be at rest when the rest begins, and can be refined from then on.
    guard let begin = plan.restBegin(now), map.hasRefinable(above: plan.goals.finest) else { return nil }
    return begin
  }

  /// Improves a part of the picture, or codes changes that were left out; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    plan.budget.refill(now: now)
    plan.noteAttempt(now: now)
    guard hasPicture else { return nil }
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.changedExtent.count > 0 {
      return stepTime <= now ? try encodeChanges(captureTime: now, now: now) : nil
    }
    guard plan.mayRefine(now), let stage = refinementStage(now), let extent = plan.extent(of: stage, now: now) else {
      return nil
    }
    var predicted = 0.0
    map.select(
      stage.qualities, allRests: plan.isAtRest(now), most: extent.blocks, bytes: extent.bytes
    ) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    return try code(
      .refinement, quantizer: stage.quantizer, predicted: predicted, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// Even an empty frame of 1080p takes some 6 ms, and during a movement it delays the next step of it.
  private static var pace: RefinementPlan.Pace {
    RefinementPlan.Pace(
      blocks: Coder.refinementPass, interval: (rest: .milliseconds(40), movement: .milliseconds(80)),
      smallInterval: .milliseconds(500), restingPass: .milliseconds(100), longestReadable: .seconds(Int64(4)),
      movingShare: (unreadable: 0.2, coarse: 0.3))
  }

  /// The next step of refining the coarse blocks; nil when nothing is left.
  private func refinementStage(_ now: Timestamp) -> RefinementPlan.Stage? {
    let weights = map.refinableWeights(allRests: plan.isAtRest(now))
    let stage = plan.stage(weights, coarsest: BlockMap.coarsest, now: now) {
      model.refinementBytes(weight: $0, from: $1, to: $2)
    }
    if let stage { return stage }
    let left = weights[Int(BlockMap.imperfect)]
    guard left > 0 else { return nil }
    return RefinementPlan.Stage(
      qualities: BlockMap.imperfect...BlockMap.imperfect, quantizer: plan.goals.perfect,
      bytes: model.refinementBytes(weight: left, from: BlockMap.imperfect, to: plan.goals.perfect))
  }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markUnseen()
    map.selectAll()
    let weight = map.changedExtent.weight
    // The first picture must not wait for a perfect one.
    let range = goals.finest...max(goals.finest, goals.coarsestFirst)
    let quantizer =
      model.quantizer(.key, weight: weight, budget: plan.budget.firstPicture, in: range) ?? range.upperBound
    let predicted = model.bytes(.key, weight: weight, quantizer: quantizer)
    return try code(
      .key, quantizer: quantizer, predicted: predicted, isBlurred: isTooDear(predicted, quantizer),
      captureTime: captureTime, now: now)
  }

  private func encodeChanges(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard goesToUpperLayer(now) else { return try encodeChangesOfLayer(captureTime: captureTime, now: now) }
    // To the next frame, the changes in the upper layer are still to be coded.
    let before = map
    pictures.store()
    isUpper = true
    defer { isUpper = false }
    let frame = try encodeChangesOfLayer(captureTime: captureTime, now: now)
    guard let frame, !frame.isKeyFrame else { return frame }
    map = before
    pictures.restore()
    endsInUpperLayer = true
    return frame
  }

  /// Every other step of a fast movement belongs to the upper layer.
  private func goesToUpperLayer(_ now: Timestamp) -> Bool {
    guard Coder.hasLayers, settings.scalabilityMode == .l1t2, !endsInUpperLayer, plan.changes.isMoving(now),
      map.changedExtent.count > RefinementPlan.largeChange
    else { return false }
    return plan.changes.movementInterval.map { $0 < Limits.layeredInterval } ?? false
  }

  /// The time until which the next step of the movement may bring what the upper layer alone has.
  private var stepTime: Timestamp {
    guard endsInUpperLayer, let last = plan.changes.last else { return .zero }
    return last + Limits.layeredInterval
  }

  private func encodeChangesOfLayer(
    captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame? {
    let (count, weight) = map.changedExtent
    guard count > 0, plan.budget.clearTime <= now else { return nil }
    let isLarge = count > RefinementPlan.largeChange
    if isLarge, let scroll = findScroll() { return try encodeScroll(scroll, captureTime: captureTime, now: now) }
    let isMovement = plan.isOfFilm(count, similarity: map.changedSimilarity, now: now) || isLarge
    let kind: ByteModel.Kind = !isMovement ? .small : plan.changes.isMoving(now) ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    map.selectChanged()
    plan.noteChange(isLarge: isMovement, now: now)
    if isMovement { movingQuantizer = quantizer }
    let predicted = model.bytes(kind, weight: weight, quantizer: quantizer)
    return try code(
      kind, quantizer: quantizer, predicted: predicted,
      isBlurred: kind == .fresh && isTooDear(predicted, quantizer), captureTime: captureTime, now: now)
  }

  /// Whether even the coarsest picture with its detail would take far longer than a first picture may: then it goes
  /// without.
  private func isTooDear(_ predicted: Double, _ quantizer: Int) -> Bool {
    quantizer == Coder.scale.upperBound && goals.finest < quantizer && predicted > 1.5 * plan.budget.firstPicture
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
    plan.noteChange(isLarge: true, now: now)
    movingQuantizer = quantizer
    pictures.move(scroll.blocks, by: scroll.distance)
    map.recordMoved(scroll.blocks, by: scroll.distance)
    map.selectChanged()
    let predicted = model.bytes(.revealed, weight: weight, quantizer: quantizer)
    // Coarse blocks are refined with the bits that are left; once all can be read, with hardly more than leave with the
    // frame.
    let isReadable = unfilled.map { $0 < goals.readable } ?? true
    let room = isReadable ? max(plan.budget.capacity / 12, plan.frameShare - predicted) : plan.budget.capacity / 5
    let spare = min(plan.budget.credit * 0.7 - predicted, room)
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
      return bytes > Double(plan.budget.rate.bytes(in: Limits.fillingTime))
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
    return model.quantizer(.revealed, weight: weight, budget: plan.budget.credit / 3, in: goals.finest...found) ?? found
  }

  /// The quantiser of the coming frame; nil when the frame had better be left out.
  private func chooseQuantizer(
    _ kind: ByteModel.Kind, weight: Double, finestRevealed: Int = 0, now: Timestamp
  ) -> Int? {
    if kind == .fresh { return chooseFirstQuantizer(weight: weight, now: now) }
    let isSlowMovement = plan.changes.isSlowMovement
    var finest = goals.finestMoving(isSlow: isSlowMovement, by: 4)
    if kind == .small { finest = goals.finest }
    // Moving content keeps its quality. To show it much finer would cost as much as new content, and the next step
    // would pay.
    if kind == .moving { finest = max(finest, movingQuantizer - (isSlowMovement ? 12 : 3)) }
    if kind == .revealed { finest = max(finest, finestRevealed) }
    let isFilm = kind == .moving && plan.isFilmPlaying
    let coarsest = max(finest, isFilm ? plan.filmGoals.coarsest : goals.coarsest)
    // Only a part of the bits that are left is used: so a movement that goes on settles at exactly its share of the
    // rate.
    let part = kind == .small ? 0.9 : kind == .moving ? movingPart : 0.5
    let change = RefinementPlan.Change(
      range: finest...coarsest, lean: coarsest...max(coarsest, goals.coarsestFirst), isFilm: isFilm, part: part)
    func cost(_ quantizer: Int) -> Double { model.bytes(kind, weight: weight, quantizer: quantizer) }
    return plan.quantizer(of: change, now: now, cost: cost, leanCost: cost)
  }

  private var movingPart: Double {
    plan.movingPart(Array(map.refinableWeights(allRests: false)[...Int(BlockMap.coarsest)]))
  }

  private func chooseFirstQuantizer(weight: Double, now: Timestamp) -> Int? {
    let range = goals.finest...max(goals.finest, goals.coarsestFirst)
    return plan.firstQuantizer(coarsest: range.upperBound, now: now) {
      model.quantizer(.fresh, weight: weight, budget: $0, in: range)
    }
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
    endsInUpperLayer = false
    let output = try coder.encode(
      pictures.input, quantizer: quantizer, keyFrame: kind == .key, kept: kept, movement: movement, isUpper: isUpper)
    if !isUpper { recordCoded(quantizer, isWhole: scroll != nil || kind == .key || coder.hasFilters) }
    plan.budget.spend(output.data.count, now: now)
    if !isBlurred {
      // Each of the two is taken to have cost its predicted part.
      let bytes = Double(output.data.count) / max(1, predicted + filled)
      model.learn(kind, bytes: Int(bytes * predicted), predicted: predicted)
      if filled > predicted { model.learn(.refinement, bytes: Int(bytes * filled), predicted: filled) }
    }
    if kind == .refinement || kind == .key { plan.noteAttempt(now: now) }
    needsKeyFrame = false
    defer { frameCount += 1 }
    var frame = EncodedFrame(
      codec: codec, data: output.data, isKeyFrame: output.isKeyFrame, size: pictures.input.size,
      captureTime: captureTime, encodedTime: now, quantizer: quantizer, rotation: rotation,
      contentHint: settings.contentHint, number: frameCount)
    frame.chroma = settings.chroma
    guard Coder.hasLayers, settings.scalabilityMode == .l1t2 else { return frame }
    frame.references = .frames(output.isKeyFrame ? [] : [baseNumber])
    if isUpper, !output.isKeyFrame { frame.layer.temporal = 1 } else { baseNumber = frameCount }
    return frame
  }

  /// Records what viewers have after a frame with the active blocks.
  private func recordCoded(_ quantizer: Int, isWhole: Bool) {
    map.recordCoded(quantizer: UInt8(quantizer))
    pictures.keepReconstruction(of: coder, active: map.active, isWhole: isWhole) { block in
      map.recordTouched(block, quantizer: UInt8(quantizer))
    }
    guard quantizer <= goals.finest, quantizer > goals.perfect else { return }
    map.findImperfect { pictures.isBlurred($0, beyond: Limits.meanSquareError) }
  }

  /// The samples of plane `index` as viewers have them after the last frame, without gaps; for tests.
  package func shownSamples(_ index: Int) -> [UInt8] { pictures.shownSamples(index) }
}

private enum Limits {
  /// The least number of blocks for which a scroll is searched.
  static let leastMoved = 200
  /// The difference of quantisers up to which blocks need no filling in.
  static let visibleStep = 4
  /// The time to fill in blocks: blocks that need less at the target rate to become readable are filled in while the
  /// rest becomes finer.
  static let fillingTime = TimeDelta.milliseconds(50)
  /// Steps of a movement that are farther apart than this are all in the lowest layer: half of them would be too few.
  static let layeredInterval = TimeDelta.milliseconds(70)
  /// The mean square error of luma at rest: 48 dB.
  static let meanSquareError = 1.0
}
