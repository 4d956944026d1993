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
  private var budget: BitBudget
  private var model = BitModel()
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
  /// The time until which a movement had better not be interrupted by refinement.
  private var heldUntil = Timestamp.zero
  private var changes: ChangeHistory
  /// The approximate quantiser of the content that a movement finds in the picture before.
  private var movingQuality = 63
  /// The time at which the newest frame was made, unless it repeats the one before: some receivers show a frame only
  /// when the next begins (aiortc).
  private var unfollowed: Timestamp?
  /// Whether changes were left out since the last frame because earlier frames had not left: the rate is lower than
  /// expected.
  private var isHeld = false
  /// The time by which the next picture will have come; nil while none is announced.
  private var nextPicture: Timestamp?
  /// The time at which libvpx last searched hard for a movement and found next to nothing, as each step of it is new.
  /// Nil when it has found something since, or when the movement is over.
  private var vainSearch: Timestamp?
  /// The weight of the changes that were coded last.
  private var codedWeight = 0.0
  /// The picture that was coded last, in which the moved parts of the next picture are searched; nil for `motion`,
  /// where next to nothing only moves.
  private var lastPicture: LastPicture?
  /// The picture in which a picture loses its detail before it is coded; made when it is first needed.
  private var blurred: BlurredPicture?

  /// A change of more macroblocks than this counts as large: a movement or a new picture, not typing.
  private static let largeChange = 400
  /// The number of macroblocks that a refinement may code: about 8 ms of work, after which a fresh change can be
  /// served.
  private static let refinementPass = 900
  /// The interval from which steps of a movement are long: they go farther than libvpx finds at its usual speed.
  private static let longStep = TimeDelta.milliseconds(150)
  /// The least number of moved macroblocks for which a frame with their vectors is worth its bytes.
  private static let leastMoved = 200
  /// The approximate bytes of a frame with vectors.
  private static let motionBytes = 700.0
  /// The interval between refinements, so that they neither flood the receiver nor keep the processor busy. Beside a
  /// movement it is longer, so that the movement keeps more than half of the rate.
  private static let refinementInterval = (rest: TimeDelta.milliseconds(30), movement: TimeDelta.milliseconds(90))
  /// The time of unsent bytes that holds back no refinement: a movement that fills the link leaves something unsent at
  /// any time.
  private static let movementQueue = TimeDelta.milliseconds(50)

  /// The part of the rate until the next picture that a picture may take when nothing is refined between them.
  private static let lonelyPart = 0.8
  /// The interval of pictures from which there is time for larger refinements between them, and fewer.
  private static let leisure = TimeDelta.milliseconds(100)
  /// The time for which few coarse macroblocks wait for more to come together, before the next picture.
  private static let littleInterval = TimeDelta.seconds(Int64(1))
  /// The pause after a hard search in which libvpx found nothing.
  private static let searchPause = TimeDelta.seconds(Int64(3))

  /// The longest time that changes may be left out while they can be coded coarsely.
  private static let longestGap = TimeDelta.milliseconds(95)

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    context = try VP8Context(settings: settings)
    self.settings = settings
    picture = InputPicture(size: settings.size)
    map = MacroblockMap(size: settings.size)
    budget = BitBudget(rate: settings.targetBitrate)
    changes = ChangeHistory(maxFrameRate: settings.maxFrameRate)
    limits = QuantizerLimits(settings)
    filmLimits = QuantizerLimits(settings.asFilm)
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
    limits = QuantizerLimits(new)
    filmLimits = QuantizerLimits(new.asFilm)
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

  /// Says when the next picture will have come: until then only what the last pictures left alone is refined.
  package func setNextPicture(by time: Timestamp?) { nextPicture = time }

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
    budget.refill(now: job.now)
    map.markChanged(job.changed)
    weighChanges()
    if job.keyFrame || needsKeyFrame { return try encodeKeyFrame(captureTime: job.captureTime, now: job.now) }
    return try encodeChanges(captureTime: job.captureTime, now: job.now)
  }

  /// When `refine` can next improve the picture within the bitrate, never before `now`; nil when nothing is left to
  /// improve.
  package func refinementTime(now: Timestamp) -> Timestamp? {
    guard !needsKeyFrame else { return now }
    map.chooseRefinable(allRests: isAtRest(now))
    var current = budget
    current.refill(now: now)
    let leftOut = map.changedExtent
    let bytes: Double
    if leftOut.count > 0 {
      let kind: BitModel.Kind = leftOut.count > Self.largeChange ? .fresh : .small
      bytes = min(model.bytes(kind, weight: leftOut.weight, quantizer: limits.coarsest), current.capacity * 0.8)
    } else if let stage = refinementStage(now) {
      bytes = min(stage.bytes, passBytes(now))
    } else if map.hasTinted {
      bytes = 1200
    } else if let begin = restBegin(now), map.quality.contains(where: { $0 > limits.finest }) {
      return begin  // what changes now may rest then
    } else {
      return unfollowed.map { max(now, $0 + ChangeHistory.restTime) }
    }
    let affordable = max(
      current.time(of: bytes, now: now), leftOut.count > 0 ? budget.clearTime : max(heldUntil, refinementQueueEnd(now)))
    // What is saved says how much of the rate a movement leaves.
    let isSaved = current.credit >= current.capacity * 0.8
    let interval =
      isLeisurely(now)
      ? (leftOut.count == 0 && bytes < passBytes(now) / 4 ? Self.littleInterval : Self.refinementInterval.movement)
      : isAtRest(now) || isSaved ? Self.refinementInterval.rest : Self.refinementInterval.movement
    let time = max(affordable, lastAttempt.map { $0 + interval } ?? now)
    guard let next = awaited(now), time > next - passTime else { return time }
    return max(time, next)
  }

  /// Improves a part of the picture, or codes changes that were left out, or repeats the picture once when nothing is
  /// left to improve; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    budget.refill(now: now)
    lastAttempt = now
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.changedCount > 0 { return try encodeChanges(captureTime: now, now: now) }
    guard refinementQueueEnd(now) <= now else { return nil }
    if let next = awaited(now), now > next - passTime { return nil }
    map.chooseRefinable(allRests: isAtRest(now))
    guard let stage = refinementStage(now) else {
      return map.hasTinted ? try correctColours(now: now) : try repeatPicture(now: now)
    }
    let pass = passBytes(now)
    guard budget.credit >= min(stage.bytes, pass) * 0.99 else { return nil }
    let allowed = isAtRest(now) ? max(pass, min(budget.credit / 2, stage.bytes)) : pass
    var predicted = 0.0
    let most =
      isAtRest(now) ? Self.refinementPass : isLeisurely(now) ? Self.refinementPass * 2 : Self.refinementPass / 3
    map.select(above: UInt8(stage.limit), most: most, bytes: allowed) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    // While something moves, the next picture is not to wait.
    let speed: VP8Context.Speed = budget.isSlow && isAtRest(now) ? .thorough : .usual
    return try code(
      .refinement, quantizer: stage.quantizer, speed: speed, predicted: predicted, captureTime: now, now: now)
  }

  /// Plain grounds show a colour that is off by two or three levels, which letters hide; so they alone are coded finer.
  private func correctColours(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard budget.credit >= 1200 * 0.99 else { return nil }
    let weight = map.selectTinted(most: Self.refinementPass)
    let predicted = model.refinementBytes(weight: weight, from: UInt8(limits.finest), to: limits.plain)
    return try code(.refinement, quantizer: limits.plain, predicted: predicted, captureTime: now, now: now)
  }

  /// A frame in which nothing is coded, some 60 bytes, behind the last one before a rest.
  private func repeatPicture(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    guard let unfollowed, now >= unfollowed + ChangeHistory.restTime else { return nil }
    map.selectNone()
    let output = try codePlanes(quantizer: limits.finest, keyFrame: false, filter: .off, speed: .usual)
    budget.spend(output.data.count, now: now)
    self.unfollowed = nil
    return frame(output, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// Bytes that one refinement waits for: a share of the rate small enough to keep what the viewer sees moving.
  private func passBytes(_ now: Timestamp) -> Double {
    max(1200, Double(budget.rate.bytes(in: .milliseconds(isAtRest(now) || isLeisurely(now) ? 80 : 40))))
  }

  /// When as little waits unsent as a refinement waits for.
  private func refinementQueueEnd(_ now: Timestamp) -> Timestamp {
    isAtRest(now) || settings.contentHint == .motion ? budget.drained : budget.drained - Self.movementQueue
  }

  /// When the next picture will have come; nil: none is known of.
  private func awaited(_ now: Timestamp) -> Timestamp? { nextPicture.flatMap { now < $0 ? $0 : nil } }

  /// Nothing changes, as far as is known.
  private func isAtRest(_ now: Timestamp) -> Bool { awaited(now) == nil && changes.isAtRest(now) }

  /// The time at which the last change may rest; nil if it rests now.
  private func restBegin(_ now: Timestamp) -> Timestamp? {
    [awaited(now), changes.restBegin].compactMap(\.self).max().flatMap { now < $0 ? $0 : nil }
  }

  /// Whether the next picture is announced, and is far enough away for a large refinement.
  private func isLeisurely(_ now: Timestamp) -> Bool { changes.frameInterval >= Self.leisure && awaited(now) != nil }

  /// The time to make and send a refinement before the next picture.
  private var passTime: TimeDelta { max(.milliseconds(10), changes.frameInterval / 2 - .milliseconds(10)) }

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
        bytes += model.refinementBytes(weight: weights[quality], from: UInt8(quality), to: quantizer)
      }
      return RefinementStage(limit: limit, quantizer: quantizer, bytes: bytes)
    }
    guard let all = stage(above: limits.finest, to: limits.finest) else { return nil }
    // If much is coarse, all macroblocks become readable before any becomes perfect. Macroblocks that change now and
    // then beside a movement are an exception: there are always some of them.
    guard limits.readable > limits.finest, all.bytes > Double(budget.rate.bytes(in: .milliseconds(250))),
      let readable = stage(above: limits.readable, to: limits.readable),
      isAtRest(now) || readable.bytes > passBytes(now) / 4
    else { return all }
    guard budget.isSlow, readable.bytes > Double(budget.rate.bytes(in: .milliseconds(500))) else { return readable }
    return stage(above: max(limits.coarsest, limits.legible), to: limits.legible) ?? readable
  }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markChanged(nil)
    map.selectAll()
    let weight = map.changedExtent.weight
    // The first picture must not wait for a perfect one.
    let range = limits.finest...max(limits.finest, limits.coarsestBlurred)
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
    if said > Self.largeChange, let field = findMotion() {
      return try encodeMotion(field, captureTime: captureTime, now: now)
    }
    let (count, weight) = map.changedExtent
    // All of it may have been the same as before.
    guard count > 0 else { return nil }
    let isLarge = isOfFilm(count, now) || count > Self.largeChange
    var speed = isLarge ? searchSpeed(now) : nil
    if speed != nil, budget.rate < .kilobitsPerSecond(250),
      model.bytes(.moving, weight: weight, quantizer: coarsestSharp) > 1.5 * budget.firstPicture
    {
      speed = nil  // Too dear as it is: rather all of it without detail.
    }
    let kind: BitModel.Kind = !isLarge ? .small : speed != nil ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    let holdsRefinement = changes.last.map { heldUntil > $0 } ?? false
    changes.note(isLarge: isLarge, now: now)
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
      if field.movedCount >= Self.leastMoved { return field }
    }
    map.recordMoved(unsafe lastPicture.motion(source, distance: 0, map: map), softened: 0)
    return nil
  }

  /// Moves what viewers have and codes what is new beside it. It waits until the rate allows both: a longer step costs no
  /// more than a short one.
  private func encodeMotion(
    _ field: MotionField, captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame? {
    let weight = map.weight(after: field)
    // Once all can be read, the rest is made better in the movement's own frames.
    let isReadable = !map.quality.contains { $0 > UInt8(limits.readable) && $0 != MacroblockMap.changed }
    guard let quantizer = chooseRevealedQuantizer(weight: weight, isReadable: isReadable, now: now) else { return nil }
    changes.note(isLarge: true, now: now)
    unfollowed = now
    holdRefinement(now: now, isBroad: isReadable)
    copyChanges()
    map.recordMoved(field, softened: UInt8(limits.readable))
    map.selectChanged()
    let predicted = model.bytes(.small, weight: weight, quantizer: quantizer)
    // What moved stays as good as it is; some of what is coarse is made better with what is left, and of what can be read
    // with what the next step will not need.
    let kept = isReadable ? budget.capacity * 0.4 : budget.credit * 0.1
    let spare = min(budget.credit - kept - Self.motionBytes - predicted, budget.capacity / (isReadable ? 4 : 10))
    let filled = map.addCoarse(above: quantizer + 4, most: isReadable ? map.count : Self.largeChange, bytes: spare) {
      quality, weight in
      model.refinementBytes(weight: weight, from: quality, to: quantizer)
    }
    let output = try unsafe context.move(field, active: map.active, source: sourcePlanes(), quantizer: quantizer)
    map.recordCoded(quantizer: UInt8(quantizer), smeared: false)
    let bytes = Double(output.data.count) - Self.motionBytes - filled
    if weight > 1 { model.learn(.small, quantizer: quantizer, bytes: Int(max(100, bytes)), predicted: predicted) }
    budget.spend(output.data.count, now: now)
    isHeld = false
    return frame(output, captureTime: captureTime, now: now)
  }

  /// As fine as half of what is saved allows, as it goes on; nil while it had better wait.
  private func chooseRevealedQuantizer(weight: Double, isReadable: Bool, now: Timestamp) -> Int? {
    let credit = budget.credit - Self.motionBytes
    let finest = limits.finestMoving(isSlow: changes.isSlowMovement)
    let range = finest...max(finest, limits.coarsest)
    if let found = model.quantizer(.small, weight: weight, budget: credit / 2, in: range) {
      // What moves on stays as it was coded once: as fine as what rests, where the rate has room for that.
      guard isReadable, found == finest, limits.finest < finest else { return found }
      return model.quantizer(.small, weight: weight, budget: credit / 3, in: limits.finest...finest) ?? found
    }
    if model.bytes(.small, weight: weight, quantizer: range.upperBound) <= credit * 0.9 { return range.upperBound }
    guard changes.last.map({ now - $0 >= Self.longStep }) ?? true else { return nil }
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
    return map.addCoarse(above: max(quantizer, limits.readable) + 10, most: map.count, bytes: spare) {
      quality, weight in
      model.refinementBytes(weight: weight, from: quality, to: quantizer)
    }
  }

  /// Whether changes of so many macroblocks that are no scroll are of a film.
  private func isOfFilm(_ count: Int, _ now: Timestamp) -> Bool {
    guard count >= FilmDetector.leastBlocks else { return false }
    film.note(similarity: map.changedSimilarity, now: now)
    return film.isPlaying
  }

  /// How hard libvpx is to search for a movement that was not found here; nil when all is new.
  private func searchSpeed(_ now: Timestamp) -> VP8Context.Speed? {
    guard changes.isMoving(now), let sinceLast = changes.lastLarge.map({ now - $0 }) else { return nil }
    if changes.frameInterval >= Self.leisure {
      guard !film.isPlaying, vainSearch.map({ now - $0 >= Self.searchPause }) ?? true else { return .usual }
    }
    guard budget.isSlow || sinceLast > Self.longestGap else { return .usual }
    guard changes.movementInterval.map({ sinceLast < $0 * 2 + Self.longStep }) ?? true else { return nil }
    return sinceLast < Self.longStep ? .usual : .thorough
  }

  /// The steps of the movement are pictures of their own: a film, or drawings that change.
  private var isNewEachTime: Bool { film.isPlaying || vainSearch != nil }

  /// Learns from a large change whether a movement is worth searching for.
  private func noteSearch(_ kind: BitModel.Kind, _ speed: VP8Context.Speed, quantizer: Int, bytes: Int, now: Timestamp)
  {
    if kind == .fresh || kind == .key { vainSearch = nil }
    guard kind == .moving, quantizer <= CodingLevel.coarsestSharp else { return }
    if Double(bytes) * 2 < model.bytes(.fresh, weight: codedWeight, quantizer: quantizer) {
      vainSearch = nil
    } else if speed == .thorough {
      vainSearch = now
    }
  }

  /// libvpx looks for a movement where the frame before found it. A refinement in between finds everything at rest, and
  /// large steps are not found again after it; so it waits until the next step would have come. A movement in a part of
  /// the picture, such as a video in a page, has small steps, and what stands beside it should not wait for its end.
  private func holdRefinement(now: Timestamp, isBroad: Bool) {
    guard isBroad else { return }
    guard let interval = changes.movementInterval else { return heldUntil = changes.restBegin ?? now }
    heldUntil = now + min(max(interval * 2, changes.frameInterval) + .milliseconds(50), .milliseconds(500))
  }

  /// The expected bytes of a frame. Moving content was coded before, and to show it finer than it was costs as much as
  /// that difference in new content. When steps follow quickly, coarse ones and a fine one take turns instead.
  private func predictedBytes(_ kind: BitModel.Kind, weight: Double, quantizer: Int, now: Timestamp) -> Double {
    let bytes = model.bytes(kind, weight: weight, quantizer: quantizer)
    guard kind == .moving, !(isNewEachTime && isLeisurely(now)), changes.isSlowMovement || budget.isSlow,
      quantizer < movingQuality
    else { return bytes }
    return bytes + model.upgradeBytes(weight: weight, from: movingQuality, to: quantizer)
  }

  /// The quantiser of the coming frame; nil when the frame had better be left out.
  private func chooseQuantizer(_ kind: BitModel.Kind, weight: Double, now: Timestamp) -> Int? {
    if kind == .fresh, budget.isSlow { return chooseFirstQuantizer(weight: weight, now: now) }
    let share = Double(budget.rate.bitsPerSecond) / 8 / max(1, settings.maxFrameRate)
    // Only a part of the bits that are left is used: so a movement that goes on settles at exactly its share of the
    // rate.
    let part = kind == .moving ? movingPart : 0.9
    let isFilm = kind == .moving && film.isPlaying
    // No refinement follows a picture that the next one replaces, so the picture gets the bits and the time itself.
    let isAlone = kind == .moving && !isFilm && isNewEachTime && isLeisurely(now)
    let allowed = max(budget.credit * part, isAlone ? share * Self.lonelyPart : share / 2, 1200)
    let finest =
      kind != .moving || isAlone
      ? limits.finest : isHeld ? limits.coarsest : limits.finestMoving(isSlow: changes.isSlowMovement)
    let coarsest = kind == .fresh ? limits.coarsestFirst : isFilm ? filmLimits.coarsest : limits.coarsest
    let range = finest...max(finest, coarsest)
    let fitting = range.first { predictedBytes(kind, weight: weight, quantizer: $0, now: now) <= allowed }
    if let fitting { return fitting }
    let least = predictedBytes(kind, weight: weight, quantizer: coarsest, now: now)
    // Half of the rate is for the text beside a film until it can be read, and less until it is perfect.
    if isFilm, part < 0.5 {
      return budget.credit >= budget.capacity * 0.8 || least <= budget.credit * part * 2 ? coarsest : nil
    }
    // A picture dearer than all that can ever be saved goes out when the savings are full.
    if least <= max(budget.credit, share) { return coarsest }
    if isFilm || settings.contentHint == .motion { return budget.credit > -budget.capacity / 2 ? coarsest : nil }
    // Leaving out more of a movement makes the rest of it dearer, as each step grows: rather go on coarser.
    let gap = changes.last.map { now - $0 } ?? Self.longestGap
    guard gap >= Self.longestGap || budget.credit >= budget.capacity * 0.8 else { return nil }
    let reach =
      budget.credit + Double(budget.rate.bytes(in: gap < Self.longestGap * 3 ? .milliseconds(100) : .milliseconds(200)))
    let lean = limits.coarsestFirst...max(limits.coarsestFirst, coarsestSharp)
    if let found = lean.first(where: { model.bytes(kind, weight: weight, quantizer: $0) <= reach }) { return found }
    return budget.credit >= budget.capacity * 0.8 ? lean.upperBound : nil
  }

  /// The first picture of something new on a slow link: as much as leaves within 200 ms, be it without detail.
  private func chooseFirstQuantizer(weight: Double, now: Timestamp) -> Int? {
    let isSaved = budget.credit >= budget.capacity * 0.8
    // When much is new again and again, fewer and better pictures.
    guard isSaved || !changes.isMoving(now) || budget.credit >= budget.capacity / 2 else { return nil }
    let allowed = isSaved ? budget.firstPicture : budget.credit * 0.9
    let range = limits.finest...max(limits.finest, limits.coarsestBlurred)
    let fitting = firstQuantizer(.fresh, weight: weight, budget: allowed, in: range)
    return fitting ?? (isSaved ? range.upperBound : nil)
  }

  /// The finest level that fits into `budget`. Rather than lose its detail, the picture may take half as much again:
  /// the next movement is not found in a picture without detail.
  private func firstQuantizer(
    _ kind: BitModel.Kind, weight: Double, budget: Double, in range: ClosedRange<Int>
  ) -> Int? {
    let found = model.quantizer(kind, weight: weight, budget: budget, in: range)
    guard found ?? range.upperBound > coarsestSharp else { return found }
    return model.bytes(kind, weight: weight, quantizer: coarsestSharp) <= 1.5 * budget ? coarsestSharp : found
  }

  private var coarsestSharp: Int { min(limits.coarsestBlurred, CodingLevel.coarsestSharp) }

  /// The share of the saved bits that a step of a movement may take. The smaller shares leave enough to sharpen what
  /// stands still beside the movement: quickly the macroblocks that cannot be read, then the rest.
  private var movingPart: Double {
    guard settings.contentHint != .motion, changes.last.map({ heldUntil <= $0 }) ?? true else { return 0.5 }
    map.chooseRefinable(allRests: false)
    guard let coarsest = map.refinableWeights.lastIndex(where: { $0 > 0 }), coarsest > limits.finest else { return 0.5 }
    return coarsest > limits.readable ? 0.25 : 0.35
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
    let isFine = quantizer <= limits.readable && kind != .key
    let output = try codePlanes(
      quantizer: quantizer, keyFrame: kind == .key, filter: isFine ? .off : .coded, speed: speed)
    if kind != .refinement { copyChanges() }
    map.recordCoded(quantizer: UInt8(quantizer), smeared: !isFine)
    if quantizer <= limits.finest, quantizer > limits.plain { findTinted() }
    budget.spend(output.data.count, now: now)
    let bytes = max(0, output.data.count - Int(filled))
    noteSearch(kind, speed, quantizer: quantizer, bytes: bytes, now: now)
    learn(kind, quantizer: quantizer, bytes: bytes, predicted: predicted)
    needsKeyFrame = false
    isHeld = false
    if kind == .refinement || kind == .key { lastAttempt = now }
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
    quantizer: Int, keyFrame: Bool, filter: VP8Context.LoopFilter, speed: VP8Context.Speed
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    var planes = unsafe sourcePlanes()
    let reduction = CodingLevel.reduction(quantizer)
    if reduction > 1 {
      let picture = blurred ?? BlurredPicture(size: settings.size)
      blurred = picture
      unsafe planes = picture.take(planes, reduction: reduction)
    }
    // The planes belong to `picture`, `source` or `blurred`, which this encoder holds.
    return try unsafe context.encode(
      planes: planes, quantizer: CodingLevel.quantizer(quantizer), active: map.active, keyFrame: keyFrame,
      filter: filter,
      speed: speed)
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
