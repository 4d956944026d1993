import RTCPrimitives

/// One viewer of exact pixels: the valid pixels sent to it, and its budget.
struct ExactViewer {
  /// The viewer's RTP timestamp of the monotonic clock's origin.
  let clock: RTPTimestamp
  /// The page is open and can be seen.
  private(set) var isVisible = false
  /// Whether its network answers.
  var isReachable = true
  /// The blocks that it has, or that are on their way to it, as the newest picture has them.
  private(set) var held: BlockSet
  /// Whether it was sent the picture's size.
  private var hasBegun = false
  /// All frames up to this time are covered by messages.
  private var told: Timestamp?
  private var budget: SendBudget
  /// The rectangles on their way, the oldest first; with the cells of each that was recalled.
  private var underway: [(number: UInt32, bytes: Int, recalled: [ExactMessage.CellRun], sent: Timestamp)] = []
  /// When something was acknowledged last, or sent while nothing was on its way.
  private var lastProgress: Timestamp
  private var nextNumber: UInt32 = 1
  /// Whether it has named a snapshot that it had: only the first counts.
  private var hasAdopted = false
  /// All rectangles, and pictures of which something moved, that it was sent.
  private var sent: (rectangles: UInt64, moves: UInt64, bytes: UInt64) = (0, 0, 0)
  /// Whether the page copies what moved.
  private var follows = false
  /// The number of the last picture of which something moved.
  private var lastMove: UInt32 = 0
  /// The pixels that the page keeps.
  private var cache = CellCache()
  /// Whether the page was told that it may keep cells.
  private var hasOffered = false
  /// The last hash of a cell for which the cache has been searched, in the order of `CellGrid`.
  private var searched: UInt64 = 0
  /// When there may be something to keep; nil: not before something happens.
  private var keepTurn: Timestamp?

  /// Cells that become exact within this time are kept together.
  private static let keepInterval = TimeDelta.milliseconds(200)

  /// Maximum number of rectangles in flight, whatever their size.
  private static let maximumUnderway = 256

  init(clock: RTPTimestamp, size: PixelSize, now: Timestamp) {
    self.clock = clock
    held = BlockSet(size)
    lastProgress = now
    budget = SendBudget(now: now)
  }

  // MARK: - Messages

  /// A picture of this size from `time` on, of which it has nothing.
  /// - Returns: what to send.
  mutating func begin(_ size: PixelSize, _ time: Timestamp) -> [UInt8]? {
    defer { forget(size) }
    guard hasBegun, !held.isEmpty else { return nil }
    return ExactMessage.void(timestamp(time), [held.whole])
  }

  /// The page forgets what it keeps too, with the next `begin`.
  private mutating func forget(_ size: PixelSize) {
    held = BlockSet(size)
    hasBegun = false
    cache = CellCache(capacity: cache.capacity)
    for index in underway.indices { underway[index].recalled = [] }
  }

  /// The page became visible or hidden. A hidden page gets no messages, and starts again when it is visible.
  mutating func setVisible(_ isVisible: Bool) {
    self.isVisible = isVisible
    forget(held.size)
    underway = []
  }

  /// The viewer has the picture of `time` from a snapshot, except for these blocks.
  /// - Returns: the messages, in order.
  mutating func adopt(but changed: BlockSet, _ time: Timestamp) -> [[UInt8]] {
    guard !hasAdopted, changed.size == held.size else { return [] }
    let rects = changed.rects(limit: ExactMessage.maximumVoids)
    var rest = BlockSet.all(of: held.size)
    for rect in rects { rest.remove(rect) }
    guard !rest.isEmpty else { return [] }
    hasAdopted = true
    held = rest
    return begun(time) + [ExactMessage.snapshot(timestamp(time), changed: rects)]
  }

  /// The messages that come before pixels of `time`.
  private mutating func begun(_ time: Timestamp) -> [[UInt8]] {
    defer { told = time }
    if hasBegun { return told.map { $0 < time } ?? true ? [ExactMessage.void(timestamp(time), [])] : [] }
    hasBegun = true
    defer { hasOffered = true }
    let begin = ExactMessage.begin(timestamp(time), held.size)
    if hasOffered { return [begin] }
    return [begin, ExactMessage.cells(timestamp(time), CellGrid.pixels), ExactMessage.moves(timestamp(time))]
  }

  /// These blocks are others from `time` on.
  /// - Returns: what to send.
  mutating func void(_ changed: BlockSet, _ time: Timestamp) -> [UInt8]? {
    guard hasBegun, held.intersects(changed) else { return nil }
    var lost = held
    lost.formIntersection(changed)
    let rects = lost.rects(limit: ExactMessage.maximumVoids)
    for rect in rects { held.remove(rect) }
    // Cells that have not changed, but are in the rectangles, are to be recalled too.
    if rects.reduce(0, { $0 + $1.area }) > lost.count { searched = 0 }
    told = time
    return ExactMessage.void(timestamp(time), rects)
  }

  // MARK: - What moved

  /// The page is seen, copies what moved, and has something to copy.
  var copiesMoves: Bool { isVisible && follows && hasBegun && !held.isEmpty }

  /// The page copies what moved from now on.
  mutating func follow() { follows = true }

  /// These blocks are others from `time` on, and this is how.
  /// - Parameter plan: of a viewer before this one, which may have held the same.
  /// - Returns: what to send.
  mutating func change(
    _ changed: BlockSet, _ moved: MovedPicture?, _ time: Timestamp, now: Timestamp, _ plan: inout MovePlan?
  ) -> [UInt8]? {
    // A viewer that answers nothing is sent no more than voids.
    guard let moved, copiesMoves, underway.count < Self.maximumUnderway else { return void(changed, time) }
    let patches = affordable(moved, changed, now)
    let rects = patches.map(\.rect)
    // New rows beside pixels that it lacks are of little use.
    let isUseful = held.intersects(changed) || patches.contains { $0.isRepair || moved.moves.isEmpty }
    guard isUseful else { return void(changed, time) }
    if plan?.isFor(held, taking: rects) != true { plan = MovePlan(moved, changed, held, taking: rects) }
    guard let plan, let blocks = plan.blocks, let voids = plan.voids else { return void(changed, time) }
    held = plan.after
    told = time
    let message = ExactMessage.move(
      timestamp(time), number: nextNumber, voids: voids, blocks: blocks, moved.moves, patches)
    lastMove = nextNumber
    noteUnderway(message.count, recalled: [], now: now)
    sent.moves += 1
    sent.bytes += UInt64(message.count)
    budget.spendMove(message.count, now: now)
    noteKeeping(now + Self.keepInterval)
    return message
  }

  /// The blocks of the movement that it lacks after the moves and patches, if it may be sent repairs.
  func holes(after moved: MovedPicture, _ changed: BlockSet, _ now: Timestamp) -> BlockSet? {
    guard copiesMoves, unacknowledgedBytes <= budget.window, budget.patchBytes(now) >= Self.leastForRepairs else {
      return nil
    }
    return moved.holes(of: held, changed)
  }

  /// The patches that it is sent: the first that it has the bandwidth for, and of the repairs those that it needs.
  private func affordable(_ moved: MovedPicture, _ changed: BlockSet, _ now: Timestamp) -> [MovedPicture.Patch] {
    // A message of damage would wait behind them.
    guard unacknowledgedBytes <= budget.window, budget.patchBytes(now) > 0 else { return [] }
    var left = min(2 * budget.window, Self.maximumPatchBytes)
    // The next new rows come before repairs.
    var spare = budget.patchBytes(now) / 2
    var holes: BlockSet?
    return moved.patches.filter { patch in
      guard patch.webP.count <= left else { return false }
      if patch.isRepair {
        holes = holes ?? moved.holes(of: held, changed)
        guard patch.webP.count <= spare, let holes, holes.intersects(BlockRect(covering: patch.rect)) else {
          return false
        }
      }
      left -= patch.webP.count
      spare -= patch.webP.count
      return true
    }
  }

  /// Bytes for patches below which no repair is worth encoding: half of them go to repairs, and one of text takes some
  /// kilobytes.
  private static let leastForRepairs = 4_096
  /// With everything else, less than any page takes in one message.
  private static let maximumPatchBytes = 49_152

  /// Whether the page has these blocks without the video, and its acknowledgements come.
  func follows(_ changed: BlockSet, _ now: Timestamp) -> Bool {
    guard copiesMoves, isReachable, underway.first.map({ now - $0.sent <= Self.followPatience }) ?? true else {
      return false
    }
    var lacking = changed
    lacking.subtract(held)
    return lacking.isEmpty
  }
  /// More than a round trip of most networks.
  private static let followPatience = TimeDelta.milliseconds(400)

  /// A frame is sent whose changes are covered by messages.
  mutating func frame(_ time: Timestamp) -> [UInt8]? {
    guard hasBegun, !held.isEmpty, told.map({ $0 < time }) ?? true else { return nil }
    told = time
    return ExactMessage.void(timestamp(time), [])
  }

  /// - Parameters:
  ///   - webP: the blocks of `rect` in the newest picture.
  ///   - time: the time of the newest frame or picture.
  /// - Returns: the messages, in order.
  mutating func send(_ rect: BlockRect, _ webP: [UInt8], _ time: Timestamp, now: Timestamp) -> [[UInt8]] {
    let before = begun(time)
    let message = ExactMessage.rectangle(
      timestamp(time), number: nextNumber, rect.pixels(in: held.size), webP: webP)
    held.insert(rect)
    note(message.count, recalled: [], now: now)
    sent.rectangles += 1
    noteKeeping(now + Self.keepInterval)
    return before + [message]
  }

  /// A rectangle, or cells, are on their way.
  private mutating func note(_ bytes: Int, recalled: [ExactMessage.CellRun], now: Timestamp) {
    noteUnderway(bytes, recalled: recalled, now: now)
    spend(bytes, now: now)
  }

  private mutating func noteUnderway(_ bytes: Int, recalled: [ExactMessage.CellRun], now: Timestamp) {
    if underway.isEmpty { lastProgress = now }
    underway.append((nextNumber, bytes, recalled, now))
    nextNumber &+= 1
  }

  private mutating func spend(_ bytes: Int, now: Timestamp) {
    sent.bytes += UInt64(bytes)
    budget.spend(bytes, now: now)
  }

  private func timestamp(_ time: Timestamp) -> RTPTimestamp {
    RTPTimestamp(RTPTimestamp(video: time).value &+ clock.value)
  }

  // MARK: - What the page keeps

  /// The page is seen, and keeps pixels.
  var keepsCells: Bool { isVisible && cache.capacity > 0 }

  /// The page keeps so many cells at once, and none at first.
  mutating func setCache(slots: Int, now: Timestamp) {
    cache = CellCache(capacity: slots)
    noteKeeping(now)
  }

  /// Names the cells that the page lacks and keeps; then those to keep from now on.
  /// - Parameter time: the time of the newest frame or picture.
  /// - Returns: the messages, in order; and when there may be more of them.
  mutating func recall(
    _ grid: CellGrid, _ time: Timestamp, now: Timestamp
  ) -> (messages: [[UInt8]], wake: Timestamp?) {
    // Whatever is kept is known only while messages arrive.
    guard keepsCells, let turn = nextTurn() else { return ([], nil) }
    var messages: [[UInt8]] = []
    if searched < grid.order {
      messages = recalled(grid, time, now)
      searched = grid.order
      noteKeeping(now + Self.keepInterval)
    }
    // Without anything sent there is nothing to keep.
    guard hasBegun, let first = keepTurn else { return (messages, nil) }
    let next = max(first, turn)
    guard next <= now else { return (messages, next) }
    messages += kept(grid, time, now)
    return (messages, keepTurn)
  }

  private mutating func recalled(_ grid: CellGrid, _ time: Timestamp, _ now: Timestamp) -> [[UInt8]] {
    var runs: [[ExactMessage.CellRun]] = []
    var count = 0
    for (index, cell) in grid.cells.enumerated() where cell.order > searched {
      if let before = cell.before, let slot = cache.slot(of: before) { cache.touch(slot) }
      guard let hash = cell.hash, held.missing(in: cell.rect) != nil, let slot = cache.slot(of: hash) else { continue }
      cache.touch(slot)
      held.insert(cell.rect)
      if count % ExactMessage.maximumRecalls == 0 { runs.append([]) }
      runs[runs.count - 1].add(index, slot)
      count += 1
    }
    return runs.flatMap { runs in
      let before = begun(time)
      let message = ExactMessage.recall(timestamp(time), number: nextNumber, runs)
      note(message.count, recalled: runs, now: now)
      return before + [message]
    }
  }

  private mutating func kept(_ grid: CellGrid, _ time: Timestamp, _ now: Timestamp) -> [[UInt8]] {
    keepTurn = nil
    var runs: [ExactMessage.CellRun] = []
    for (index, cell) in grid.cells.enumerated() {
      guard let hash = cell.hash, cache.slot(of: hash) == nil, held.missing(in: cell.rect) == nil else { continue }
      let rested = grid.restTime(of: cell)
      guard rested <= now else {
        noteKeeping(rested)
        continue
      }
      let slot = cache.keep(hash, of: index, before: nextNumber) { hash, cell in
        grid.cells.indices.contains(cell) && grid.cells[cell].hash == hash
      }
      guard let slot else { break }
      runs.add(index, slot)
    }
    guard !runs.isEmpty else { return [] }
    let messages = begun(time) + [ExactMessage.keep(timestamp(time), runs)]
    spend(messages.reduce(0) { $0 + $1.count }, now: now)
    return messages
  }

  private mutating func noteKeeping(_ time: Timestamp) { keepTurn = min(keepTurn ?? time, time) }

  /// The page did not have these cells of a recall. They may have been sent since then as rectangles: a void says that
  /// they are not held any more, or a later change of them would not be announced.
  /// - Parameter time: the time of the newest frame or picture.
  /// - Returns: what to send.
  mutating func miss(
    _ number: UInt32, cells: [Int], in grid: CellGrid, _ time: Timestamp, now: Timestamp
  ) -> [UInt8]? {
    var missed = BlockSet(held.size)
    if let recalled = underway.first(where: { $0.number == number })?.recalled {
      let all = recalled.flatMap { run in (0..<run.length).map { (cell: run.cell + $0, slot: run.slot + $0) } }
      for index in cells where all.indices.contains(index) && grid.cells.indices.contains(all[index].cell) {
        missed.insert(grid.cells[all[index].cell].rect)
        cache.forget(all[index].slot, at: number)
      }
      // A later move may have copied the missing cells to any place.
      if Int32(bitPattern: lastMove &- number) > 0 { missed.insertAll() }
    }
    acknowledge(number, now: now)
    return void(missed, time)
  }

  /// The smallest rectangle with all missing blocks of `tile`; nil if there are none.
  func lacks(in tile: BlockRect) -> BlockRect? { held.missing(in: tile) }

  // MARK: - How much

  /// Sets the bandwidth for video and exact pixels together, minus the exact pixels of the last second.
  mutating func setRate(_ rate: BitRate, now: Timestamp) { budget.setRate(rate, now: now) }

  /// Video takes this from what there is.
  mutating func noteVideo(bytes: Int, now: Timestamp) { budget.spendFirst(bytes, now: now) }

  /// Takes an acknowledgement; unknown numbers are ignored.
  mutating func acknowledge(_ number: UInt32, now: Timestamp) {
    guard let index = underway.firstIndex(where: { $0.number == number }) else { return }
    underway.removeSubrange(...index)
    lastProgress = now
  }

  /// Whether it acknowledges nothing: its network or its page has stopped.
  func isStuck(_ now: Timestamp) -> Bool { !underway.isEmpty && now - lastProgress > Self.patience }
  private static let patience = TimeDelta.seconds(1)

  /// When the next rectangle may be sent, as far as time alone decides; nil: when something is acknowledged.
  func nextTurn() -> Timestamp? {
    guard underway.count < Self.maximumUnderway, unacknowledgedBytes <= budget.window else { return nil }
    return budget.nextTurn
  }

  private var unacknowledgedBytes: Int { underway.reduce(0) { $0 + $1.bytes } }

  /// - Parameter left: the blocks that are left to the video.
  func statistics(leaving left: BlockSet) -> ExactViewerStatistics {
    var statistics = ExactViewerStatistics()
    statistics.isVisible = isVisible
    let blocks = Double(max(1, held.whole.area))
    statistics.share = Double(held.count) / blocks
    var lacking = left
    if left.size == held.size { lacking.subtract(held) }
    statistics.videoShare = Double(lacking.count) / blocks
    (statistics.rectangles, statistics.moves, statistics.bytes) = sent
    statistics.unacknowledgedBytes = unacknowledgedBytes
    return statistics
  }

  /// The number of tiles that may be sent as one rectangle: it delays later ones no longer than all rectangles in
  /// flight may.
  var mostTiles: Int { max(1, budget.window / Self.tileBytes) }
  /// Bytes of a tile full of text, beside others.
  private static let tileBytes = 6_000

  /// Bytes cost more time than encoding does.
  var isSlow: Bool { budget.isSlow }
}

extension [ExactMessage.CellRun] {
  fileprivate mutating func add(_ cell: Int, _ slot: Int) {
    if let last, last.cell + last.length == cell, last.slot + last.length == slot {
      self[count - 1].length += 1
    } else {
      append(ExactMessage.CellRun(cell: cell, slot: slot, length: 1))
    }
  }
}

/// How much of the picture one viewer has exactly, and why not more.
package struct ExactViewerStatistics: Hashable, Sendable {
  /// The page can be seen, and so is sent anything.
  package var isVisible = false
  /// The share of the picture, 0…1, that is exact or on its way.
  package var share = 0.0
  /// The share of the picture, 0…1, that is missing and left to the video because it would take too many bytes.
  package var videoShare = 0.0
  /// Rectangles that it was sent.
  package var rectangles: UInt64 = 0
  /// Pictures that it made of moved pixels.
  package var moves: UInt64 = 0
  /// Bytes of these, headers included, and of messages about cells that the page keeps.
  package var bytes: UInt64 = 0
  /// Bytes of these that are not acknowledged yet.
  package var unacknowledgedBytes = 0

  package init() {}
}
