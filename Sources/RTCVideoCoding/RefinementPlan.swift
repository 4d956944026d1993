package import RTCMedia
package import RTCPrimitives

/// The policy of an encoder of screens: when to refine the picture, which part of it, how finely and for how many
/// bytes; and how finely to code a change. One plan serves all codecs. An encoder adds the context of its codec and a
/// `Pace`.
///
/// The plan is a value without clock: the time is an argument.
package struct RefinementPlan {
  /// The figures in which codecs differ.
  package struct Pace {
    /// The number of blocks that one refinement may code while the picture rests: the work of some 10–25 ms.
    package var blocks: Int
    /// The least time between two refinements, so that they neither flood the receiver nor keep the processor busy.
    /// Beside a movement it is longer, so that the movement keeps more than half of the rate.
    package var interval: (rest: TimeDelta, movement: TimeDelta)
    /// The least time between refinements of few blocks beside a movement; nil: as of many blocks.
    package var smallInterval: TimeDelta?
    /// The part of the target rate, as a time, that one refinement of a resting picture waits for.
    package var restingPass: TimeDelta
    /// The longest time for making a picture readable at once. If it takes longer, the picture becomes legible first.
    package var longestReadable: TimeDelta
    /// The share of the saved bits that a step of a movement may take while something beside it cannot be read, and
    /// while something beside it is coarse.
    package var movingShare: (unreadable: Double, coarse: Double)

    /// Makes a pace.
    package init(
      blocks: Int, interval: (rest: TimeDelta, movement: TimeDelta), smallInterval: TimeDelta? = nil,
      restingPass: TimeDelta, longestReadable: TimeDelta, movingShare: (unreadable: Double, coarse: Double)
    ) {
      self.blocks = blocks
      self.interval = interval
      self.smallInterval = smallInterval
      self.restingPass = restingPass
      self.longestReadable = longestReadable
      self.movingShare = movingShare
    }
  }

  /// One step in which the picture is improved.
  package struct Stage {
    /// The qualities of the blocks that take part.
    package var qualities: ClosedRange<UInt8>
    /// The quantiser that the blocks are coded with.
    package var quantizer: Int
    /// The bytes that all these blocks take together.
    package var bytes: Double
  }

  /// A change of more blocks than this counts as large: a movement or a new picture, not typing.
  package static let largeChange = 400
  /// The longest time that changes may be left out while they can be coded coarsely.
  package static let longestGap = TimeDelta.milliseconds(95)
  /// The time of unsent bytes that holds back no refinement: a movement that fills the link leaves something unsent at
  /// any time.
  private static let movementQueue = TimeDelta.milliseconds(50)
  /// The interval of pictures from which there is time for larger refinements between them, and fewer.
  package static let leisure = TimeDelta.milliseconds(100)
  /// The time for which few coarse blocks wait for more to come together, before the next picture.
  private static let littleInterval = TimeDelta.seconds(Int64(1))
  /// The part of the rate, as a time, that the first picture of something new may take beside a movement.
  private static let besideMovement = TimeDelta.milliseconds(80)
  /// The fewest bytes that a refinement or a frame of a movement may have.
  private static let leastBytes = 1200.0

  /// The bits that may be spent.
  package var budget: BitBudget
  /// The times of the changes that were coded.
  package private(set) var changes: ChangeHistory
  /// The quantisers between which frames are coded.
  package private(set) var goals: QuantizerGoals
  /// The quantisers for a film in the picture, where frames matter more than sharpness.
  package private(set) var filmGoals: QuantizerGoals
  /// The time until which a movement had better not be interrupted by refinement.
  package var heldUntil = Timestamp.zero
  private let pace: Pace
  private var film = FilmDetector()
  private var maxFrameRate: Double
  private var contentHint: ContentHint
  /// The time of the last attempt to refine.
  private var lastAttempt: Timestamp?
  /// The time by which the next picture will have come; nil while none is announced.
  private var nextPicture: Timestamp?

  /// A plan for a picture of which nothing was coded.
  ///
  /// - Parameter goals: the codec's quantisers for settings.
  package init(_ settings: VideoEncoderSettings, _ pace: Pace, goals: (VideoEncoderSettings) -> QuantizerGoals) {
    self.pace = pace
    budget = BitBudget(rate: settings.targetBitrate)
    changes = ChangeHistory(maxFrameRate: settings.maxFrameRate)
    self.goals = goals(settings)
    filmGoals = goals(settings.asFilm)
    maxFrameRate = settings.maxFrameRate
    contentHint = settings.contentHint
  }

  /// Follows changed settings.
  package mutating func reconfigure(_ new: VideoEncoderSettings, goals: (VideoEncoderSettings) -> QuantizerGoals) {
    self.goals = goals(new)
    filmGoals = goals(new.asFilm)
    budget.setRate(new.targetBitrate)
    changes.setMaxFrameRate(new.maxFrameRate)
    maxFrameRate = new.maxFrameRate
    contentHint = new.contentHint
  }

  /// Sets the time by which the next picture will have come; nil: none is announced.
  package mutating func setNextPicture(by time: Timestamp?) { nextPicture = time }

  // MARK: - Rest and movement

  /// Records that changes are coded now. If they are `isLarge`, they are a step of a movement, or a new picture.
  package mutating func noteChange(isLarge: Bool, now: Timestamp) { changes.note(isLarge: isLarge, now: now) }

  /// Records an attempt to refine, or a key frame, after which refinement pauses.
  package mutating func noteAttempt(now: Timestamp) { lastAttempt = now }

  /// Whether a film plays in the picture.
  package var isFilmPlaying: Bool { film.isPlaying }

  /// Whether a change of `count` blocks that is no scroll belongs to a film.
  ///
  /// - Parameter similarity: the share of neighbouring samples in it that differ but little.
  package mutating func isOfFilm(_ count: Int, similarity: @autoclosure () -> Double, now: Timestamp) -> Bool {
    guard count >= FilmDetector.leastBlocks else { return false }
    film.note(similarity: similarity(), now: now)
    return film.isPlaying
  }

  /// When the next picture will have come; nil: none is known of.
  private func awaited(_ now: Timestamp) -> Timestamp? { nextPicture.flatMap { now < $0 ? $0 : nil } }

  /// Whether nothing changes, as far as is known. A picture with changes that wait for their frame does not rest.
  package func isAtRest(_ now: Timestamp) -> Bool { awaited(now) == nil && changes.isAtRest(now) }

  /// The time at which the last change may rest; nil if it rests now.
  package func restBegin(_ now: Timestamp) -> Timestamp? {
    [awaited(now), changes.restBegin].compactMap(\.self).max().flatMap { now < $0 ? $0 : nil }
  }

  /// Whether the next picture is announced, and is far enough away for a large refinement.
  package func isLeisurely(_ now: Timestamp) -> Bool { changes.frameInterval >= Self.leisure && awaited(now) != nil }

  /// The time to make and send a refinement before the next picture.
  private var passTime: TimeDelta { max(.milliseconds(10), changes.frameInterval / 2 - .milliseconds(10)) }

  // MARK: - When

  /// The time at which the next refinement is due: the bits and the network allow it, and the last is long enough ago.
  ///
  /// - Parameter bytes: the bytes that the refinement waits for.
  package func time(ofRefinement bytes: Double, now: Timestamp) -> Timestamp {
    let small: TimeDelta? = isLeisurely(now) ? Self.littleInterval : isAtRest(now) ? nil : pace.smallInterval
    let isSmall = bytes < passBytes(now) / (isLeisurely(now) ? 4 : 3)
    let earliest = max(heldUntil, queueEnd(now))
    return time(of: bytes, after: earliest, interval: isSmall ? small : nil, now: now)
  }

  /// The time at which changes that were left out are due.
  ///
  /// - Parameter bytes: the bytes that they take at least.
  package func time(ofLeftOut bytes: Double, now: Timestamp) -> Timestamp {
    time(of: min(bytes, budget.capacity * 0.8), after: budget.clearTime, interval: nil, now: now)
  }

  private func time(of bytes: Double, after earliest: Timestamp, interval: TimeDelta?, now: Timestamp) -> Timestamp {
    var current = budget
    current.refill(now: now)
    let affordable = max(current.time(of: bytes, now: now), earliest)
    // The saved bits show how much of the rate a movement leaves.
    let isSaved = current.credit >= current.capacity * 0.8
    let usual = !isLeisurely(now) && (isAtRest(now) || isSaved) ? pace.interval.rest : pace.interval.movement
    let time = max(affordable, lastAttempt.map { $0 + (interval ?? usual) } ?? now)
    guard let next = awaited(now), time > next - passTime else { return time }
    return max(time, next)
  }

  /// Whether a refinement may be made now, as far as the network and the next picture are concerned.
  package func mayRefine(_ now: Timestamp) -> Bool {
    guard queueEnd(now) <= now else { return false }
    return awaited(now).map { now <= $0 - passTime } ?? true
  }

  /// The time at which the unsent bytes have shrunk to the number that a refinement waits for.
  private func queueEnd(_ now: Timestamp) -> Timestamp {
    isAtRest(now) || contentHint == .motion ? budget.drained : budget.drained - Self.movementQueue
  }

  // MARK: - What, how finely, at what cost

  /// The bytes that one refinement waits for: a share of the rate small enough to keep the moving part of the picture
  /// moving.
  package func passBytes(_ now: Timestamp) -> Double {
    let time = isAtRest(now) || isLeisurely(now) ? pace.restingPass : .milliseconds(40)
    return max(Self.leastBytes, Double(budget.rate.bytes(in: time)))
  }

  /// The number of blocks and of bytes that a refinement of `stage` may take now; nil while the bits do not suffice.
  package func extent(of stage: Stage, now: Timestamp) -> (blocks: Int, bytes: Double)? {
    let pass = passBytes(now)
    guard budget.credit >= min(stage.bytes, pass) * 0.99 else { return nil }
    guard !isAtRest(now) else { return (pace.blocks, max(pass, min(budget.credit / 2, stage.bytes))) }
    // While something moves, the next picture must not wait.
    return (isLeisurely(now) ? pace.blocks * 2 : pace.blocks / 3, pass)
  }

  /// The next step of refining the coarse blocks; nil when all are as fine as they are to be. Each further step makes the
  /// whole dearer: a page of text takes 706 kB in one step, 776 kB in two, 910 kB in three. So there are three steps
  /// only where two would take very long.
  ///
  /// - Parameters:
  ///   - weights: the weight of the blocks that may be refined, by quality.
  ///   - coarsest: the coarsest quality of blocks that were coded.
  ///   - cost: the bytes that it takes to bring a weight from a quality to a quantiser.
  package func stage(
    _ weights: [Double], coarsest: UInt8, now: Timestamp,
    cost: (_ weight: Double, _ from: UInt8, _ to: Int) -> Double
  ) -> Stage? {
    func stage(above limit: Int, to quantizer: Int) -> Stage? {
      guard limit < Int(coarsest) else { return nil }
      let qualities = UInt8(limit + 1)...coarsest
      guard qualities.contains(where: { weights[Int($0)] > 0 }) else { return nil }
      var bytes = 0.0
      for quality in qualities where weights[Int(quality)] > 0 {
        bytes += cost(weights[Int(quality)], quality, quantizer)
      }
      return Stage(qualities: qualities, quantizer: quantizer, bytes: bytes)
    }
    guard let all = stage(above: goals.finest, to: goals.finest) else { return nil }
    // If much is coarse, all blocks become readable before any becomes perfect. Blocks that change now and then beside
    // a movement are an exception: there are always some of them.
    guard goals.readable > goals.finest, all.bytes > Double(budget.rate.bytes(in: .milliseconds(250))),
      let readable = stage(above: goals.readable, to: goals.readable),
      isAtRest(now) || readable.bytes > passBytes(now) / 4
    else { return all }
    guard budget.isSlow, readable.bytes > Double(budget.rate.bytes(in: pace.longestReadable)) else { return readable }
    return stage(above: max(goals.coarsest, goals.legible), to: goals.legible) ?? readable
  }

  // MARK: - The quantiser of a change

  /// Whether nearly as much is saved as can be.
  package var isSaved: Bool { budget.credit >= budget.capacity * 0.8 }

  /// The share of the rate that one frame has, in bytes.
  package var frameShare: Double { Double(budget.rate.bitsPerSecond) / 8 / max(1, maxFrameRate) }

  /// A change that is to be coded, and the quantisers and bytes that are allowed for it.
  package struct Change {
    /// The quantisers that it may be coded with.
    package var range: ClosedRange<Int>
    /// The coarser quantisers that it may be coded with instead of being left out.
    package var lean: ClosedRange<Int>
    /// Whether it is a step of a film.
    package var isFilm: Bool
    /// The share of the saved bits that it may take.
    package var part: Double
    /// The part of a frame's share of the rate that it may take in any case.
    package var share = 0.5

    /// Describes a change.
    package init(
      range: ClosedRange<Int>, lean: ClosedRange<Int>, isFilm: Bool = false, part: Double, share: Double = 0.5
    ) {
      (self.range, self.lean, self.isFilm, self.part, self.share) = (range, lean, isFilm, part, share)
    }
  }

  /// The quantiser of a change; nil when its frame had better be left out.
  ///
  /// - Parameters:
  ///   - cost: the bytes at a quantiser of `change.range`.
  ///   - leanCost: the bytes at a quantiser of `change.lean`.
  package func quantizer(
    of change: Change, now: Timestamp, cost: (Int) -> Double, leanCost: (Int) -> Double
  ) -> Int? {
    let share = frameShare
    let allowed = max(budget.credit * change.part, share * change.share, Self.leastBytes)
    if let fitting = change.range.first(where: { cost($0) <= allowed }) { return fitting }
    let coarsest = change.range.upperBound
    let least = cost(coarsest)
    // Half of the rate is for the text beside a film until the text can be read, and less until it is perfect.
    if change.isFilm, change.part < 0.5 {
      return isSaved || least <= budget.credit * change.part * 2 ? coarsest : nil
    }
    // A picture that costs more than can ever be saved is sent when the savings are full.
    if least <= max(budget.credit, share) { return coarsest }
    if change.isFilm || contentHint == .motion { return budget.credit > -budget.capacity / 2 ? coarsest : nil }
    // If more steps of a movement are left out, the others become dearer, as each grows: so the movement goes on
    // coarser.
    let gap = changes.last.map { now - $0 } ?? Self.longestGap
    guard gap >= Self.longestGap || isSaved else { return nil }
    let reach = budget.credit + Double(budget.rate.bytes(in: .milliseconds(gap < Self.longestGap * 3 ? 100 : 200)))
    return change.lean.first { leanCost($0) <= reach } ?? (isSaved ? change.lean.upperBound : nil)
  }

  /// The quantiser of the first picture of something new: as fine as leaves within 200 ms on a slow link, or within
  /// 80 ms while something beside it changes steadily, as its next steps wait for this picture.
  ///
  /// - Parameter find: the finest quantiser that fits into a number of bytes.
  package func firstQuantizer(coarsest: Int, now: Timestamp, find: (_ bytes: Double) -> Int?) -> Int? {
    let allowed = isSaved ? budget.firstPicture : budget.credit * 0.9
    let beside = Double(budget.rate.bytes(in: Self.besideMovement))
    if budget.isSlow, changes.isSteady(now), beside < allowed, let quick = find(beside) { return quick }
    return find(allowed) ?? (isSaved ? coarsest : nil)
  }

  /// The share of the saved bits that a step of a movement may take. The smaller shares leave enough to sharpen what
  /// stands still beside the movement: quickly the blocks that cannot be read, then the rest.
  ///
  /// - Parameter weights: the weight of the coded blocks that the last two changes left alone, by quality.
  package func movingPart(_ weights: @autoclosure () -> [Double]) -> Double {
    guard contentHint != .motion, changes.last.map({ heldUntil <= $0 }) ?? true,
      let coarsest = weights().lastIndex(where: { $0 > 0 }), coarsest > goals.finest
    else { return 0.5 }
    return coarsest > goals.readable ? pace.movingShare.unreadable : pace.movingShare.coarse
  }
}
