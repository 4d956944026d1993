package import RTCMedia
package import RTCPrimitives

/// VP8 by libvpx, made for screens: changed macroblocks alone are coded, a large change first as finely as the rate
/// allows, and whatever is coarse is improved while the picture rests, until it is visually lossless.
///
/// The quantiser of every frame is chosen here, not by libvpx: from the bits saved up (`BitBudget`) and the expected
/// cost (`BitModel`). Of what each macroblock was coded with `MacroblockMap` keeps account.
package final class VP8Encoder: VideoEncoder {
  /// Always VP8.
  package let codec = VideoCodec.vp8
  /// What it encodes by now; `reconfigure` and `setTargetBitrate` change it.
  package private(set) var settings: VideoEncoderSettings
  /// The picture to convert into; another object after `reconfigure` changed the size.
  package private(set) var picture: InputPicture

  private var context: VP8Context
  private var map: MacroblockMap
  private var budget: BitBudget
  private var model = BitModel()
  private var limits: QuantizerLimits
  private var source = EncodeJob.Source.inputPicture
  private var rotation = VideoRotation.none
  private var needsKeyFrame = true
  private var frameCount: UInt64 = 0
  /// The last try to refine.
  private var lastAttempt: Timestamp?
  private var lastLargeChange: Timestamp?
  /// Until when a movement had better not be interrupted by refinement.
  private var heldUntil = Timestamp.zero
  /// From the large change before the last to the last; nil when they are no movement.
  private var movementInterval: TimeDelta?
  /// About the quantiser of what a movement finds in the picture before.
  private var movingQuality = 63
  /// When changes were coded last, large or small.
  private var lastChange: Timestamp?
  /// When the newest frame was made, unless it repeats the one before: some receivers show a frame only when the next
  /// begins (aiortc).
  private var unfollowed: Timestamp?

  /// A change of more macroblocks than this counts as large: a movement or a new picture, not typing.
  private static let largeChange = 400
  /// Macroblocks a refinement may code: about 8 ms of work, after which a fresh change can be served.
  private static let refinementPass = 900
  /// Between refinements, so that they neither flood the receiver nor keep the processor busy.
  private static let refinementInterval = TimeDelta.milliseconds(60)

  /// Large changes closer to each other than this are one movement.
  private static let movementGap = TimeDelta.milliseconds(600)

  /// How long changes may be left out while they can be coded coarsely.
  private static let longestGap = TimeDelta.milliseconds(95)

  /// An encoder whose first frame is a key frame; throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    context = try VP8Context(settings: settings)
    self.settings = settings
    picture = InputPicture(size: settings.size)
    map = MacroblockMap(size: settings.size)
    budget = BitBudget(rate: settings.targetBitrate)
    limits = QuantizerLimits(settings)
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
    }
    settings = new
    limits = QuantizerLimits(new)
    budget.setRate(new.targetBitrate)
  }

  /// Sets the rate to stay within, from the next frame on.
  package func setTargetBitrate(_ rate: BitRate) {
    settings.targetBitrate = rate
    budget.setRate(rate)
  }

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
    let leftOut = map.extent(above: 63)
    let bytes: Double
    if leftOut.count > 0 {
      let kind: BitModel.Kind = leftOut.count > Self.largeChange ? .fresh : .small
      bytes = min(model.bytes(kind, weight: leftOut.weight, quantizer: limits.coarsest), current.capacity * 0.8)
    } else if let stage = refinementStage() {
      bytes = min(stage.bytes, passBytes)
    } else if map.hasTinted {
      bytes = 1200
    } else if let lastChange, !isAtRest(now), map.quality.contains(where: { $0 > limits.finest }) {
      return lastChange + Self.restTime  // what changes now may rest then
    } else {
      return unfollowed.map { max(now, $0 + Self.restTime) }
    }
    let affordable = max(current.time(of: bytes, now: now), leftOut.count > 0 ? now : heldUntil)
    return max(affordable, lastAttempt.map { $0 + Self.refinementInterval } ?? now)
  }

  /// Improves a part of the picture, or codes changes that were left out, or repeats the picture once when nothing is left
  /// to improve; nil when nothing can be done yet.
  package func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    budget.refill(now: now)
    lastAttempt = now
    if needsKeyFrame { return try encodeKeyFrame(captureTime: now, now: now) }
    if map.extent(above: 63).count > 0 { return try encodeChanges(captureTime: now, now: now) }
    map.chooseRefinable(allRests: isAtRest(now))
    guard let stage = refinementStage() else {
      return map.hasTinted ? try correctColours(now: now) : try repeatPicture(now: now)
    }
    guard budget.credit >= min(stage.bytes, passBytes) * 0.99 else { return nil }
    let allowed = max(passBytes, min(budget.credit / 2, stage.bytes))
    var predicted = 0.0
    map.select(above: UInt8(stage.quantizer), most: Self.refinementPass, bytes: allowed) { quality, weight in
      let bytes = model.refinementBytes(weight: weight, from: quality, to: stage.quantizer)
      predicted += bytes
      return bytes
    }
    return try code(
      .refinement, quantizer: stage.quantizer, predicted: predicted, captureTime: now, now: now)
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
    guard let unfollowed, now >= unfollowed + Self.restTime else { return nil }
    map.selectNone()
    let output = try codePlanes(quantizer: limits.finest, keyFrame: false, filter: .off)
    budget.spend(output.data.count)
    self.unfollowed = nil
    return frame(output, captureTime: now, now: now)
  }

  // MARK: - Choosing

  /// Bytes that one refinement waits for: a share of the rate small enough to keep what the viewer sees moving.
  private var passBytes: Double { max(1200, Double(budget.rate.bytes(in: .milliseconds(80)))) }

  /// What to bring the coarse macroblocks to next, and the bytes for all of it; nil when nothing is left.
  private func refinementStage() -> (quantizer: Int, bytes: Double)? {
    let target = limits.finest
    guard map.quality.indices.contains(where: { map.needsRefinement($0, above: target) }) else { return nil }
    let all = refinementBytes(to: target)
    // Far to go: make everything readable before anything becomes perfect.
    if limits.readable > target, all > budget.capacity / 2,
      map.quality.indices.contains(where: { map.needsRefinement($0, above: limits.readable) })
    {
      return (limits.readable, refinementBytes(to: limits.readable))
    }
    return (target, all)
  }

  /// True when no change came for longer than those of a movement are apart.
  private func isAtRest(_ now: Timestamp) -> Bool { lastChange.map { now - $0 >= Self.restTime } ?? true }

  private static let restTime = TimeDelta.milliseconds(250)

  private func refinementBytes(to target: Int) -> Double {
    var sum = 0.0
    for index in map.quality.indices where map.needsRefinement(index, above: target) {
      sum += model.refinementBytes(weight: Double(map.weight[index]) / 255, from: map.quality[index], to: target)
    }
    return sum
  }

  private func encodeKeyFrame(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    map.markChanged(nil)
    map.selectAll()
    let weight = map.extent(above: 63).weight
    // The first picture must not wait for a perfect one: about 0.4 s of the rate, a little more when the rate is low.
    let affordable = max(
      budget.rate.bytes(in: .milliseconds(400)), min(100_000, budget.rate.bytes(in: .milliseconds(800))))
    let range = limits.finest...limits.coarsestFirst
    let quantizer =
      model.quantizer(.key, weight: weight, budget: Double(affordable), in: range) ?? limits.coarsestFirst
    let predicted = model.bytes(.key, weight: weight, quantizer: quantizer)
    return try code(.key, quantizer: quantizer, predicted: predicted, captureTime: captureTime, now: now)
  }

  private func encodeChanges(captureTime: Timestamp, now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? {
    let (count, weight) = map.extent(above: 63)
    guard count > 0 else { return nil }
    let isLarge = count > Self.largeChange
    let isMoving = lastLargeChange.map { now - $0 < Self.movementGap } ?? false
    if isLarge { movementInterval = isMoving ? lastLargeChange.map { now - $0 } : nil }
    let kind: BitModel.Kind = !isLarge ? .small : isMoving ? .moving : .fresh
    guard let quantizer = chooseQuantizer(kind, weight: weight, now: now) else { return nil }
    map.selectChanged()
    lastChange = now
    if isLarge { holdRefinement(now: now, isBroad: count > map.count / 4) }
    let predicted = predictedBytes(kind, weight: weight, quantizer: quantizer)
    return try code(kind, quantizer: quantizer, predicted: predicted, captureTime: captureTime, now: now)
  }

  /// libvpx looks for a movement where the frame before found it. A refinement in between finds everything at rest, and
  /// large steps are not found again after it; so it waits until the next step would have come. A movement in a part of
  /// the picture, such as a video in a page, has small steps, and what stands beside it should not wait for its end.
  private func holdRefinement(now: Timestamp, isBroad: Bool) {
    lastLargeChange = now
    guard isBroad else { return }
    let frame = TimeDelta.seconds(1 / max(1, settings.maxFrameRate))
    let expected = max((movementInterval ?? .zero) * 2, frame)
    heldUntil = now + min(expected + .milliseconds(50), .milliseconds(500))
  }

  /// Whether the steps of a movement are few enough to think about each.
  private var isSlowMovement: Bool { movementInterval.map { $0 > .milliseconds(120) } ?? false }

  /// What moves was coded before; to show it finer than it was is as dear as the difference is when new. When steps
  /// follow quickly, they are coded coarsely by turns with a fine one instead.
  private func predictedBytes(_ kind: BitModel.Kind, weight: Double, quantizer: Int) -> Double {
    let bytes = model.bytes(kind, weight: weight, quantizer: quantizer)
    guard kind == .moving, isSlowMovement, quantizer < movingQuality else { return bytes }
    return bytes + model.upgradeBytes(weight: weight, from: movingQuality, to: quantizer)
  }

  /// Nil when the frame had better be left out.
  private func chooseQuantizer(_ kind: BitModel.Kind, weight: Double, now: Timestamp) -> Int? {
    let share = Double(budget.rate.bitsPerSecond) / 8 / max(1, settings.maxFrameRate)
    // A part of what is left: a movement that goes on settles at exactly its share of the rate. The smaller part leaves
    // enough at a time to sharpen what stands still beside it.
    let part = kind != .moving ? 0.9 : hasCoarseRest ? 0.25 : 0.5
    let spendable = budget.credit * part
    let allowed = max(spendable, share / 2, 1200)
    let finest = kind == .moving ? limits.finestMoving(isSlow: isSlowMovement) : limits.finest
    let coarsest = kind == .fresh ? limits.coarsestFirst : limits.coarsest
    let range = finest...max(finest, coarsest)
    let fitting = range.first { predictedBytes(kind, weight: weight, quantizer: $0) <= allowed }
    if let fitting { return fitting }
    let least = model.bytes(kind, weight: weight, quantizer: coarsest)
    // A picture dearer than all that can ever be saved goes out when the savings are full.
    if least <= max(budget.credit, share) { return coarsest }
    if budget.credit >= budget.capacity * 0.8 { return limits.coarsestFirst }
    if settings.contentHint == .motion { return budget.credit > -budget.capacity / 2 ? coarsest : nil }
    // Leaving out more of a movement makes the rest of it dearer, as each step grows: rather go on coarser.
    let isOverdue = lastChange.map { now - $0 >= Self.longestGap } ?? true
    let lean = model.bytes(kind, weight: weight, quantizer: limits.coarsestFirst)
    let reach = budget.credit + Double(budget.rate.bytes(in: .milliseconds(200)))
    return isOverdue && lean <= reach ? limits.coarsestFirst : nil
  }

  /// True when something that does not move is still coarse, and the movement leaves room to mend it.
  private var hasCoarseRest: Bool {
    guard settings.contentHint != .motion, lastChange.map({ heldUntil <= $0 }) ?? true else { return false }
    map.chooseRefinable(allRests: false)
    return map.quality.indices.contains { map.needsRefinement($0, above: limits.readable) }
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
    _ kind: BitModel.Kind, quantizer: Int, predicted: Double, captureTime: Timestamp, now: Timestamp
  ) throws(VideoEncoderError) -> EncodedFrame {
    let isFine = quantizer <= limits.readable && kind != .key
    let output = try codePlanes(quantizer: quantizer, keyFrame: kind == .key, filter: isFine ? .off : .coded)
    map.recordCoded(quantizer: UInt8(quantizer), smeared: !isFine)
    if quantizer <= limits.finest, quantizer > limits.plain { findTinted() }
    budget.spend(output.data.count)
    learn(kind, quantizer: quantizer, bytes: output.data.count, predicted: predicted)
    needsKeyFrame = false
    if kind == .refinement || kind == .key { lastAttempt = now }
    unfollowed = now
    return frame(output, captureTime: captureTime, now: now)
  }

  private func frame(_ output: VP8Context.Output, captureTime: Timestamp, now: Timestamp) -> EncodedFrame {
    defer { frameCount += 1 }
    return EncodedFrame(
      codec: codec, data: output.data, isKeyFrame: output.isKeyFrame, size: settings.size, captureTime: captureTime,
      encodedTime: now, quantizer: output.quantizerIndex, rotation: rotation, contentHint: settings.contentHint,
      number: frameCount)
  }

  private func learn(_ kind: BitModel.Kind, quantizer: Int, bytes: Int, predicted: Double) {
    model.learn(kind, bytes: bytes, predicted: predicted)
    switch kind {
    case .key, .fresh: movingQuality = quantizer
    // What is found moves on as it was; only what is not found becomes coarser.
    case .moving: movingQuality = min(quantizer, movingQuality + (max(0, quantizer - movingQuality) + 7) / 8)
    case .small, .refinement: break
    }
  }

  private func codePlanes(
    quantizer: Int, keyFrame: Bool, filter: VP8Context.LoopFilter
  ) throws(VideoEncoderError) -> VP8Context.Output {
    let planes = unsafe sourcePlanes()
    // The planes belong to `picture` or `source`, which this encoder holds.
    return try unsafe context.encode(
      planes: (planes[0].base, planes[1].base, planes[2].base),
      strides: (planes[0].stride, planes[1].stride, planes[2].stride), quantizer: quantizer, active: map.active,
      keyFrame: keyFrame, filter: filter)
  }

  @unsafe
  private func sourcePlanes() -> [VP8Context.Plane] {
    switch source {
    case .inputPicture:
      return unsafe (0..<3).map { index in
        let plane = unsafe picture.unsafePlane(index)
        return unsafe VP8Context.Plane(base: UnsafePointer(plane.base), stride: plane.stride)
      }
    case .frame(let frame):
      return unsafe (0..<3).map { index in
        let plane = unsafe frame.buffer.unsafePlane(index)
        return unsafe VP8Context.Plane(base: plane.base.assumingMemoryBound(to: UInt8.self), stride: plane.stride)
      }
    }
  }

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

extension VP8Context.Plane {
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

/// Quantisers (0…63) between which frames are coded, by content hint.
struct QuantizerLimits {
  /// Visually lossless: about 44 dB of luma on text.
  var finest: Int
  /// What plain grounds get whose colour is off: no error is left.
  var plain: Int { min(2, finest) }
  /// What a movement gets at best; more would be lost on the eye and cost time.
  var finestMoving: Int
  /// Where letters can be read without effort; large pictures are brought there before they become perfect.
  var readable: Int
  /// What a movement gets at worst; beyond it frames are left out (but for `motion`).
  var coarsest: Int
  /// What the first picture after a large change gets at worst; it is improved at once.
  var coarsestFirst: Int

  /// Slow steps leave bits and time, and the eye time to read.
  func finestMoving(isSlow: Bool) -> Int { isSlow ? min(finestMoving, finest + 8) : finestMoving }

  init(_ settings: VideoEncoderSettings) {
    switch settings.contentHint {
    case .detail: self.init(finest: 8, finestMoving: 24, readable: 30, coarsest: 48, coarsestFirst: 57)
    case .text: self.init(finest: 6, finestMoving: 20, readable: 26, coarsest: 44, coarsestFirst: 55)
    case .motion: self.init(finest: 16, finestMoving: 20, readable: 36, coarsest: 63, coarsestFirst: 63)
    }
    guard let range = settings.quantizerRange else { return }
    let lower = min(63, max(0, range.lowerBound * 63 / 100))
    let upper = min(63, max(0, range.upperBound * 63 / 100))
    func limit(_ value: Int) -> Int { min(upper, max(lower, value)) }
    self.init(
      finest: lower, finestMoving: limit(finestMoving), readable: limit(readable), coarsest: upper,
      coarsestFirst: upper)
  }

  private init(finest: Int, finestMoving: Int, readable: Int, coarsest: Int, coarsestFirst: Int) {
    self.finest = finest
    self.finestMoving = finestMoving
    self.readable = readable
    self.coarsest = coarsest
    self.coarsestFirst = coarsestFirst
  }
}
