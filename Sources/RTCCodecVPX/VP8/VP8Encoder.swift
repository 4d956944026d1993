import CVPX
package import RTCMedia
package import RTCPrimitives
import RTCVideoCoding

/// VP8 by libvpx, made for screens. Only changed macroblocks are coded: a large change first as finely as the rate
/// allows. Coarse macroblocks are improved while the picture rests, until they are visually lossless.
///
/// The quantiser of every frame is chosen here, not by libvpx: from the saved bits (`BitBudget`) and the expected cost
/// (`BitModel`). `MacroblockMap` records the quantiser that each macroblock was coded with.
package final class VP8Encoder: VideoEncoder {
  /// Always VP8.
  package let codec = VideoCodec.vp8
  /// The settings of the coming frames; `reconfigure` and `setTargetBitrate` change them.
  package private(set) var settings: VideoEncoderSettings
  /// The picture to convert into; another object after `reconfigure` changed the size.
  package private(set) var picture: InputPicture

  private var context: VP8Context
  private var map: MacroblockMap
  private var plan: RefinementPlan
  private var model = BitModel()
  private var source = EncodeJob.Source.inputPicture
  private var rotation = VideoRotation.none
  private var needsKeyFrame = true
  private var frameCount: UInt64 = 0
  /// The approximate quantiser of the content that a movement finds in the picture before.
  private var movingQuality = 63
  /// The time at which the newest frame was made, unless it repeats the one before: some receivers show a frame only
  /// when the next begins (aiortc).
  private var unfollowed: Timestamp?
  /// Whether changes were left out since the last frame because earlier frames had not left: the rate is lower than
  /// expected.
  private var isHeld = false
  /// The hard searches of libvpx for a movement.
  private var searches = SearchHistory()
  /// The weight of the changes that were coded last.
  private var codedWeight = 0.0
  /// The picture that was coded last, in which the moved parts of the next picture are searched; nil for `motion`,
  /// where next to nothing only moves.
  private var lastPicture: LastPicture?
  /// The picture in which a picture loses its detail before it is coded; made when it is first needed.
  private var blurred: BlurredPicture?

  /// The number of macroblocks that a refinement may code: about 8 ms of work, after which a fresh change can be
  /// served.
  private static let refinementPass = 900
  /// The interval from which steps of a movement are long: they go farther than libvpx finds at its usual speed.
  private static let longStep = TimeDelta.milliseconds(150)
  /// The least number of moved macroblocks for which a frame with their vectors is worth its bytes.
  private static let leastMoved = 100
  /// At least one in so many of the changed macroblocks has moved: blank ground is found at any distance.
  private static let leastMovedShare = 4
  /// The approximate bytes of a frame with vectors.
  private static let motionBytes = 700.0
  /// The bytes that a correction of colours waits for.
  private static let tintBytes = 1200.0
  /// The number of quantisers by which slow steps of a movement may be coarser than a picture at rest.
  private static let slowStep = 8
  /// The part of the rate until the next picture that a picture may take when nothing is refined between them.
  private static let lonelyPart = 0.8
  /// Frames that code at most one in so many macroblocks are made here, without libvpx: in a third of the time, and with
  /// up to twice the bytes, as letters are not searched in the lines above. On slow links these are the letters that
  /// somebody types, and frames that are expected to take at most one in `leanShare` of a picture's share of the rate,
  /// such as the next digit of a clock.
  private static let (fewShare, fewestShare) = (24, 240)
  private static let leanShare = 8.0
  /// The longest time whose share of the rate counts for this.
  private static let leanTime = TimeDelta.milliseconds(33)
  /// The factor by which a first picture may exceed its bytes to keep its detail, unless something beside it changes steadily.
  private static let sharpSlack = 1.5

  private static let pace = RefinementPlan.Pace(
    blocks: refinementPass, interval: (rest: .milliseconds(30), movement: .milliseconds(90)),
    restingPass: .milliseconds(80), longestReadable: .milliseconds(500), movingShare: (unreadable: 0.25, coarse: 0.35))

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    context = try VP8Context(settings: settings)
    self.settings = settings
    picture = InputPicture(size: settings.size)
    map = MacroblockMap(size: settings.size)
    plan = RefinementPlan(settings, Self.pace, goals: Self.goals)
  }

  /// Changes any setting; another size, content hint or number of threads makes the next frame a key frame.
  package func reconfigure(_ new: VideoEncoderSettings) throws(VideoEncoderError) {
    let old = settings
    // Some of libvpx's settings hold for life, and a larger size does not fit into an encoder made for a smaller one.
    if (new.size, new.contentHint, new.threads) != (old.size, old.contentHint, old.threads) {
      context = try VP8Context(settings: new)
      needsKeyFrame = true
    }
    if new.size != old.size {
      picture = InputPicture(size: new.size)
      map = MacroblockMap(size: new.size)
      source = .inputPicture
      blurred = nil
      lastPicture = nil
    }
    settings = new
    plan.reconfigure(new, goals: Self.goals)
  }

  /// Sets the rate to stay within, from the next frame on.
  package func setTargetBitrate(_ rate: BitRate) {
    settings.targetBitrate = rate
    plan.budget.setRate(rate)
  }

  /// Says when all that was made before will have left: changes are left out while that is more than about 120 ms
  /// away, and nothing is refined before.
  package func setSendQueue(drained: Timestamp) { plan.budget.drained = drained }

  /// Says when the next picture will have come: until then only what the last pictures left alone is refined.
  package func setNextPicture(by time: Timestamp?) { plan.setNextPicture(by: time) }

  /// Codes what changed, as far as the bitrate allows; nil when no frame is made, then the changes come with a later
  /// one; throws `unsuitableFrame` for a frame given by reference that is not of the picture's format and size.
  package func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    if case .frame(let frame) = job.source {
      guard frame.buffer.format == picture.format, frame.size == settings.size else {
        throw .unsuitableFrame(frame.buffer.format, frame.size)
      }
    }
    source = job.source
    lastPicture?.beginPicture()
    rotation = job.rotation
    plan.budget.refill(now: job.now)
    map.markChanged(job.changed)
    weighChanges()
    if job.keyFrame || needsKeyFrame { return try encodeKeyFrame(captureTime: job.captureTime, now: job.now) }
    return try encodeChanges(captureTime: job.captureTime, now: job.now)
  }

  /// When `refine` can next improve the picture within the bitrate, never before `now`; nil when nothing is left to
  /// improve.
  package func refinementTime(now: Timestamp) -> Timestamp? {
    guard !needsKeyFrame else { return now }
    map.chooseRefinable(allRests: plan.isAtRest(now))
    let leftOut = map.changedExtent
    if leftOut.count > 0 {
      let kind: BitModel.Kind = leftOut.count > RefinementPlan.largeChange ? .fresh : .small
      return plan.time(ofLeftOut: model.bytes(kind, weight: leftOut.weight, quantizer: goals.coarsest), now: now)
    }
    if let stage = refinementStage(now) {
      return plan.time(ofRefinement: min(stage.bytes, plan.passBytes(now)), now: now)
    }
    if map.hasTinted { return plan.time(ofRefinement: Self.tintBytes, now: now) }
    // The parts that change now may be at rest when the rest begins, and can be refined from then on.
    if let begin = plan.restBegin(now), map.quality.contains(where: { $0 > goals.finest }) { return begin }
    return unfollowed.map { max(now, $0 + ChangeHistory.restTime) }
  }

  /// Improves a part of the picture, or codes changes that were left out, or repeats the picture once when nothing is
  /// left to improve; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    plan.budget.refill(now: now)
    plan.noteAttempt(now: now)
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.changedCount > 0 { return try encodeChanges(captureTime: now, now: now) }
    guard plan.mayRefine(now) else { return nil }
    map.chooseRefinable(allRests: plan.isAtRest(now))
    guard let stage = refinementStage(now) else {
      return map.hasTinted ? try correctColours(now: now) : try repeatPicture(now: now)
    }
    guard let extent = plan.extent(of: stage, now: now) else { return nil }
    var predicted = 0.0
    map.select(above: stage.qualities.lowerBound - 1, most: extent.blocks, bytes: extent.bytes) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    // While something moves, the next picture is not to wait.
    let speed: VP8Context.Speed = budget.isSlow && plan.isAtRest(now) ? .thorough : .usual
    return try code(
      .refinement, quantizer: stage.quantizer, speed: speed, predicted: predicted, captureTime: now, now: now)
  }

  /// Plain grounds show a colour that is off by two or three levels, which letters hide; so they alone are coded finer.
  private func correctColours(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard budget.credit >= Self.tintBytes * 0.99 else { return nil }
    let weight = map.selectTinted(most: Self.refinementPass)
    let predicted = model.refinementBytes(weight: weight, from: UInt8(goals.finest), to: plainQuantizer)
    return try code(.refinement, quantizer: plainQuantizer, predicted: predicted, captureTime: now, now: now)
  }

  /// A frame in which nothing is coded, some 60 bytes, behind the last one before a rest.
  private func repeatPicture(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard let unfollowed, now >= unfollowed + ChangeHistory.restTime else { return nil }
    map.selectNone()
    let output = try codePlanes(quantizer: goals.finest, keyFrame: false, filter: .off, speed: .usual, predicted: 0)
    plan.budget.spend(output.data.count, now: now)
    self.unfollowed = nil
    return frame(output, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// The quantisers by content hint. The finest has about 44 dB of luma on text. Letters can be read without effort at
  /// the readable one, and can be read (32 dB) at the legible one.
  private static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals {
    let goals =
      switch settings.contentHint {
      case .detail: QuantizerGoals(8, perfect: nil, moving: 24, readable: 30, legible: 42, coarsest: 48, first: 57)
      case .text: QuantizerGoals(6, perfect: nil, moving: 20, readable: 26, legible: 40, coarsest: 44, first: 55)
      case .motion: QuantizerGoals(16, perfect: nil, moving: 20, readable: 36, legible: 48, coarsest: 63, first: 63)
      }
    return goals.limited(to: settings.quantizerRange, of: 0...CodingLevel.coarsestSharp)
  }

  /// The quantiser of plain macroblocks with a wrong colour: no error is left.
  private var plainQuantizer: Int { min(2, goals.finest) }

  /// The coarsest level of a first picture, where the rate does not allow the coarsest quantiser.
  private var coarsestBlurred: Int { settings.quantizerRange == nil ? CodingLevel.coarsest : goals.coarsest }

  private var goals: QuantizerGoals { plan.goals }
  private var budget: BitBudget { plan.budget }

  /// The next step of refining the coarse macroblocks; nil when nothing is left.
  private func refinementStage(_ now: Timestamp) -> RefinementPlan.Stage? {
    plan.stage(map.refinableWeights, coarsest: UInt8(CodingLevel.coarsest), now: now) {
      model.refinementBytes(weight: $0, from: $1, to: $2)
    }
  }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markChanged(nil)
    map.selectAll()
    let weight = map.changedExtent.weight
    // The first picture must not wait for a perfect one.
    let range = goals.finest...max(goals.finest, coarsestBlurred)
    let quantizer = firstQuantizer(.key, weight: weight, budget: budget.firstPicture, in: range) ?? range.upperBound
    let predicted = model.bytes(.key, weight: weight, quantizer: quantizer)
    return try code(.key, quantizer: quantizer, predicted: predicted, captureTime: captureTime, now: now)
  }

  private func encodeChanges(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    let said = map.changedCount
    guard said > 0 else { return nil }
    guard budget.clearTime <= now else {
      isHeld = true
      return nil
    }
    if said > min(RefinementPlan.largeChange, map.count / Self.fewShare), let field = findMotion() {
      return try encodeMotion(field, of: said, captureTime: captureTime, now: now)
    }
    let (count, weight) = map.changedExtent
    // All of it may have been the same as before.
    guard count > 0 else { return nil }
    let isLarge =
      plan.isOfFilm(count, similarity: map.changedSimilarity, now: now) || count > RefinementPlan.largeChange
    var speed = isLarge ? searchSpeed(now) : nil
    if speed != nil, budget.rate < .kilobitsPerSecond(250),
      model.bytes(.moving, weight: weight, quantizer: coarsestSharp) > 1.5 * budget.firstPicture
    {
      speed = nil  // Too dear as it is: rather all of it without detail.
    }
    let kind: BitModel.Kind = !isLarge ? .small : speed != nil ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    let holdsRefinement = plan.changes.last.map { plan.heldUntil > $0 } ?? false
    plan.noteChange(isLarge: isLarge, now: now)
    if isLarge { holdRefinement(now: now, isBroad: count > map.count / 4) }
    map.selectChanged()
    let predicted = predictedBytes(kind, weight: weight, quantizer: quantizer, now: now)
    let filled = kind == .moving && holdsRefinement ? fillIn(quantizer: quantizer, predicted: predicted) : 0
    codedWeight = weight
    return try code(
      kind, quantizer: quantizer, speed: speed ?? .usual, predicted: predicted, filled: filled,
      captureTime: captureTime, now: now)
  }

  // MARK: - What only moved

  /// Where the changes come from, when much of them scrolled. What was said to have changed and is the same is changed no
  /// more.
  private func findMotion() -> MotionField? {
    guard let lastPicture else { return nil }
    let source = unsafe sourcePlanes()
    if let bounds = map.changedBounds, let distance = unsafe lastPicture.scrollDistance(source, in: bounds) {
      let field = unsafe lastPicture.motion(source, distance: distance, map: map)
      if field.movedCount >= max(Self.leastMoved, map.changedCount / Self.leastMovedShare) { return field }
    }
    map.recordMoved(unsafe lastPicture.motion(source, distance: 0, map: map), softened: 0)
    return nil
  }

  /// Moves what viewers have and codes what is new beside it. It waits until the rate allows both: a longer step costs no
  /// more than a short one.
  /// - Parameter said: the number of macroblocks that were said to have changed.
  private func encodeMotion(
    _ field: MotionField, of said: Int, captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame? {
    let weight = map.weight(after: field)
    // Once all can be read, the rest is made better in the movement's own frames.
    let isReadable = !map.quality.contains { $0 > UInt8(goals.readable) && $0 != MacroblockMap.changed }
    guard let quantizer = chooseRevealedQuantizer(weight: weight, isReadable: isReadable, now: now) else { return nil }
    let isLarge = said > RefinementPlan.largeChange
    plan.noteChange(isLarge: isLarge, now: now)
    unfollowed = now
    holdRefinement(now: now, isBroad: isReadable && isLarge)
    copyChanges()
    map.recordMoved(field, softened: UInt8(goals.readable))
    map.selectChanged()
    let predicted = model.bytes(.small, weight: weight, quantizer: quantizer)
    // What moved stays as good as it is; some of what is coarse is made better with what is left, and of what can be read
    // with what the next step will not need.
    let kept = isReadable ? budget.capacity * 0.4 : budget.credit * 0.1
    let spare = min(budget.credit - kept - Self.motionBytes - predicted, budget.capacity / (isReadable ? 4 : 10))
    let filled = map.addCoarse(
      above: quantizer + 4, most: isReadable ? map.count : RefinementPlan.largeChange, bytes: spare
    ) {
      quality, weight in
      model.refinementBytes(weight: weight, from: quality, to: quantizer)
    }
    let output = try unsafe context.move(field, active: map.active, source: sourcePlanes(), quantizer: quantizer)
    map.recordCoded(quantizer: UInt8(quantizer), smeared: false)
    let bytes = Double(output.data.count) - Self.motionBytes - filled
    if weight > 1 { model.learn(.small, quantizer: quantizer, bytes: Int(max(100, bytes)), predicted: predicted) }
    plan.budget.spend(output.data.count, now: now)
    isHeld = false
    return frame(output, captureTime: captureTime, now: now)
  }

  /// As fine as half of what is saved allows, as it goes on; nil while it had better wait.
  private func chooseRevealedQuantizer(weight: Double, isReadable: Bool, now: Timestamp) -> Int? {
    let credit = budget.credit - Self.motionBytes
    let finest = goals.finestMoving(isSlow: plan.changes.isSlowMovement, by: Self.slowStep)
    let range = finest...max(finest, goals.coarsest)
    if let found = model.quantizer(.small, weight: weight, budget: credit / 2, in: range) {
      // What moves on stays as it was coded once: as fine as what rests, where the rate has room for that.
      guard isReadable, found == finest, goals.finest < finest else { return found }
      return model.quantizer(.small, weight: weight, budget: credit / 3, in: goals.finest...finest) ?? found
    }
    if model.bytes(.small, weight: weight, quantizer: range.upperBound) <= credit * 0.9 { return range.upperBound }
    guard plan.changes.last.map({ now - $0 >= Self.longStep }) ?? true else { return nil }
    let lean = range.upperBound...max(range.upperBound, coarsestSharp)
    let reach = max(0, credit) + Double(budget.rate.bytes(in: .milliseconds(100)))
    return model.quantizer(.small, weight: weight, budget: reach, in: lean)
      ?? (budget.credit >= budget.capacity * 0.8 ? lean.upperBound : nil)
  }

  /// Makes what stands coarsely beside a movement part of its frame, as refinement waits for its end; a tenth of what
  /// is saved at a time.
  /// - Returns: the bytes that this takes.
  private func fillIn(quantizer: Int, predicted: Double) -> Double {
    let spare = min(budget.credit * 0.9 - predicted, budget.capacity / 10)
    guard spare > 0 else { return 0 }
    return map.addCoarse(above: max(quantizer, goals.readable) + 10, most: map.count, bytes: spare) {
      quality, weight in
      model.refinementBytes(weight: weight, from: quality, to: quantizer)
    }
  }

  /// How hard libvpx is to search for a movement that was not found here; nil when all is new.
  private func searchSpeed(_ now: Timestamp) -> VP8Context.Speed? {
    guard plan.changes.isMoving(now), let sinceLast = plan.changes.lastLarge.map({ now - $0 }) else { return nil }
    if plan.changes.frameInterval >= RefinementPlan.leisure {
      guard !plan.isFilmPlaying, searches.mayTry(now) else { return .usual }
    }
    // Slow steps in which nothing was found are pictures of their own.
    if sinceLast >= Self.longStep, plan.changes.isSlowMovement, !searches.mayTry(now) { return nil }
    guard budget.isSlow || sinceLast > RefinementPlan.longestGap else { return .usual }
    guard plan.changes.movementInterval.map({ sinceLast < $0 * 2 + Self.longStep }) ?? true else { return nil }
    return sinceLast < Self.longStep ? .usual : .thorough
  }

  /// The steps of the movement are pictures of their own: a film, or drawings that change.
  private var isNewEachTime: Bool { plan.isFilmPlaying || searches.isVain }

  /// Learns from a large change whether a movement is worth searching for.
  private func noteSearch(_ kind: BitModel.Kind, _ speed: VP8Context.Speed, quantizer: Int, bytes: Int, now: Timestamp)
  {
    if kind == .key || kind == .fresh && plan.changes.movementInterval == nil { searches.reset() }
    guard kind == .moving, quantizer <= CodingLevel.coarsestSharp else { return }
    if Double(bytes) * 2 < model.bytes(.fresh, weight: codedWeight, quantizer: quantizer) {
      searches.reset()
    } else if speed == .thorough {
      searches.noteVain(now: now)
    }
  }

  /// libvpx looks for a movement where the frame before found it. A refinement in between finds everything at rest, and
  /// large steps are not found again after it; so it waits until the next step would have come. A movement in a part of
  /// the picture, such as a video in a page, has small steps, and what stands beside it should not wait for its end.
  private func holdRefinement(now: Timestamp, isBroad: Bool) {
    guard isBroad, !(isNewEachTime && plan.changes.isSlowMovement) else { return }
    guard let interval = plan.changes.movementInterval else { return plan.heldUntil = plan.changes.restBegin ?? now }
    plan.heldUntil = now + min(max(interval * 2, plan.changes.frameInterval) + .milliseconds(50), .milliseconds(500))
  }

  /// The expected bytes of a frame. Moving content was coded before, and to show it finer than it was costs as much as
  /// that difference in new content. When steps follow quickly, coarse ones and a fine one take turns instead.
  private func predictedBytes(_ kind: BitModel.Kind, weight: Double, quantizer: Int, now: Timestamp) -> Double {
    let bytes = model.bytes(kind, weight: weight, quantizer: quantizer)
    guard kind == .moving, !(isNewEachTime && plan.isLeisurely(now)), plan.changes.isSlowMovement || budget.isSlow,
      quantizer < movingQuality
    else { return bytes }
    return bytes + model.upgradeBytes(weight: weight, from: movingQuality, to: quantizer)
  }

  /// The quantiser of the coming frame; nil when the frame had better be left out.
  private func chooseQuantizer(_ kind: BitModel.Kind, weight: Double, now: Timestamp) -> Int? {
    if kind == .fresh, budget.isSlow { return chooseFirstQuantizer(weight: weight, now: now) }
    let isFilm = kind == .moving && plan.isFilmPlaying
    // No refinement follows a picture that the next one replaces, so the picture gets the bits and the time itself.
    let isAlone = kind == .moving && !isFilm && isNewEachTime && plan.isLeisurely(now)
    let finest =
      kind != .moving || isAlone
      ? goals.finest
      : isHeld ? goals.coarsest : goals.finestMoving(isSlow: plan.changes.isSlowMovement, by: Self.slowStep)
    let coarsest = kind == .fresh ? goals.coarsestFirst : isFilm ? plan.filmGoals.coarsest : goals.coarsest
    // Only a part of the bits that are left is used: so a movement that goes on settles at exactly its share of the
    // rate.
    let change = RefinementPlan.Change(
      range: finest...max(finest, coarsest), lean: goals.coarsestFirst...max(goals.coarsestFirst, coarsestSharp),
      isFilm: isFilm, part: kind == .moving ? movingPart : 0.9, share: isAlone ? Self.lonelyPart : 0.5)
    return plan.quantizer(
      of: change, now: now, cost: { predictedBytes(kind, weight: weight, quantizer: $0, now: now) },
      leanCost: { model.bytes(kind, weight: weight, quantizer: $0) })
  }

  /// The first picture of something new on a slow link: as much as leaves within 200 ms, be it without detail.
  private func chooseFirstQuantizer(weight: Double, now: Timestamp) -> Int? {
    // When much is new again and again, fewer and better pictures.
    guard plan.isSaved || !plan.changes.isMoving(now) || budget.credit >= budget.capacity / 2 else { return nil }
    let range = goals.finest...max(goals.finest, coarsestBlurred)
    return plan.firstQuantizer(coarsest: range.upperBound, now: now) {
      let slack = plan.changes.isSteady(now) ? 1 : Self.sharpSlack
      return firstQuantizer(.fresh, weight: weight, budget: $0, slack: slack, in: range)
    }
  }

  /// The finest level that fits into `budget`. Rather than lose its detail, the picture may take `slack` times as much:
  /// the next movement is not found in a picture without detail.
  private func firstQuantizer(
    _ kind: BitModel.Kind, weight: Double, budget: Double, slack: Double = sharpSlack, in range: ClosedRange<Int>
  ) -> Int? {
    let found = model.quantizer(kind, weight: weight, budget: budget, in: range)
    guard found ?? range.upperBound > coarsestSharp else { return found }
    return model.bytes(kind, weight: weight, quantizer: coarsestSharp) <= slack * budget ? coarsestSharp : found
  }

  private var coarsestSharp: Int { min(coarsestBlurred, CodingLevel.coarsestSharp) }

  private var movingPart: Double {
    map.chooseRefinable(allRests: false)
    return plan.movingPart(map.refinableWeights)
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
    _ kind: BitModel.Kind, quantizer: Int, speed: VP8Context.Speed = .usual,
    predicted: Double, filled: Double = 0, captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame {
    let isFine = quantizer <= goals.readable && kind != .key
    let output = try codePlanes(
      quantizer: quantizer, keyFrame: kind == .key, filter: isFine ? .off : .coded, speed: speed, predicted: predicted)
    if kind != .refinement { copyChanges() }
    map.recordCoded(quantizer: UInt8(quantizer), smeared: !isFine)
    if quantizer <= goals.finest, quantizer > plainQuantizer { findTinted() }
    plan.budget.spend(output.data.count, now: now)
    let bytes = max(0, output.data.count - Int(filled))
    noteSearch(kind, speed, quantizer: quantizer, bytes: bytes, now: now)
    learn(kind, quantizer: quantizer, bytes: bytes, predicted: predicted)
    needsKeyFrame = false
    isHeld = false
    if kind == .refinement || kind == .key { plan.noteAttempt(now: now) }
    unfollowed = now
    return frame(output, captureTime: captureTime, now: now)
  }

  /// Keeps what is coded now, for the next picture to be compared with.
  private func copyChanges() {
    guard settings.contentHint != .motion else { return lastPicture = nil }
    let last = lastPicture ?? LastPicture(size: settings.size)
    let all = (0..<map.rows).map { (row: $0, columns: 0..<map.columns) }
    unsafe last.copy(sourcePlanes(), spans: lastPicture == nil ? all : map.changedSpans)
    lastPicture = last
  }

  private func frame(_ output: VPXEncoding.Output, captureTime: Timestamp, now: Timestamp) -> EncodedFrame {
    defer { frameCount += 1 }
    return EncodedFrame(
      codec: codec, data: output.data, isKeyFrame: output.isKeyFrame, size: settings.size, captureTime: captureTime,
      encodedTime: now, quantizer: output.quantizerIndex, rotation: rotation, contentHint: settings.contentHint,
      number: frameCount)
  }

  private func learn(_ kind: BitModel.Kind, quantizer: Int, bytes: Int, predicted: Double) {
    let upgrade = kind == .moving ? predicted - model.bytes(.moving, weight: codedWeight, quantizer: quantizer) : 0
    if upgrade > 1 {
      model.learnUpgrade(bytes: Double(bytes) - (predicted - upgrade), predicted: upgrade)
    } else {
      model.learn(kind, quantizer: quantizer, bytes: bytes, predicted: predicted)
    }
    switch kind {
    case .key, .fresh: movingQuality = min(quantizer, CodingLevel.coarsestSharp)
    // What is found moves on as it was; only what is not found becomes coarser.
    case .moving: movingQuality = min(quantizer, movingQuality + (max(0, quantizer - movingQuality) + 7) / 8)
    case .small, .refinement, .blurred: break
    }
  }

  private func codePlanes(
    quantizer: Int, keyFrame: Bool, filter: VP8Context.LoopFilter, speed: VP8Context.Speed, predicted: Double
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    var planes = unsafe sourcePlanes()
    let reduction = CodingLevel.reduction(quantizer)
    if reduction > 1 {
      let picture = blurred ?? BlurredPicture(size: settings.size)
      blurred = picture
      unsafe planes = picture.take(planes, reduction: reduction)
    }
    // The planes belong to `picture`, `source` or `blurred`, which this encoder holds.
    if !keyFrame, filter == .off, isFew(predicted: predicted) {
      return try unsafe context.encodeFew(active: map.active, source: planes, quantizer: quantizer)
    }
    return try unsafe context.encode(
      planes: planes, quantizer: CodingLevel.quantizer(quantizer), active: map.active, keyFrame: keyFrame,
      filter: filter,
      speed: speed)
  }

  /// Whether the coming frame codes so few macroblocks that it is made without libvpx.
  ///
  /// - Parameter predicted: the bytes that libvpx's frame would take.
  private func isFew(predicted: Double) -> Bool {
    let count = map.activeCount
    guard count * Self.fewShare <= map.count else { return false }
    guard budget.isSlow, count * Self.fewestShare > map.count else { return true }
    return predicted * Self.leanShare <= min(plan.frameShare, Double(budget.rate.bytes(in: Self.leanTime)))
  }

  @unsafe
  private func sourcePlanes() -> [VPXPlane] { unsafe VPXPlane.planes(of: source, picture) }

  /// Compares what viewers see of the macroblocks just coded with what they should see.
  private func findTinted() {
    guard map.hasPlainActive else { return }
    let source = unsafe sourcePlanes()
    let size = settings.size
    _ = unsafe context.withReconstruction { shown in
      map.findTinted { row, column in
        (0..<3).contains { index in
          let side = index == 0 ? 16 : 8
          let width = min(side, (index == 0 ? size.width : (size.width + 1) / 2) - column * side)
          let height = min(side, (index == 0 ? size.height : (size.height + 1) / 2) - row * side)
          return unsafe shown[index].differs(
            from: source[index], x: column * side, y: row * side, width: width, height: height)
        }
      }
    }
  }
}

extension VPXPlane {
  /// Whether a rectangle is lighter or darker than the same of `other`, by more than half a level in the mean.
  fileprivate func differs(from other: Self, x: Int, y: Int, width: Int, height: Int) -> Bool {
    var sum = 0
    for line in y..<y + height {
      let (a, b) = unsafe (base + line * stride + x, other.base + line * other.stride + x)
      for index in 0..<width { sum += Int(unsafe a[index]) - Int(unsafe b[index]) }
    }
    return abs(sum) * 2 > width * height
  }
}

extension VP8Encoder {
  /// Name and version of the library, such as `libvpx v1.12.0`.
  package static var library: String { "libvpx " + (unsafe String(cString: vpx_codec_version_str())) }
}
