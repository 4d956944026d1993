package import RTCPrimitives

/// Decides which parts of a picture are encoded exactly, when, and for which viewers. One for all viewers of a cast;
/// without threads or clock.
///
/// The picture is divided into tiles. A viewer lacks the blocks that changed since they were sent to it; the missing
/// part of a tile is one rectangle, encoded once for all viewers that lack it. Frequently changing parts wait until
/// they are still; a small isolated change is sent at once. Tiles that would take too many bytes, photographs, are left
/// to the video until they change.
package struct ExactScheduler: Sendable {
  /// A rectangle to encode.
  package struct Job: Hashable, Sendable {
    package var rect: BlockRect
    /// Bytes matter more than time.
    package var isThorough: Bool
    /// Larger is not worth sending.
    package var maximumBytes: Int
    /// Beside each other.
    fileprivate var tiles: ClosedRange<Int>
  }

  /// A cell whose pixels in the newest picture are to be hashed.
  package struct Hashing: Hashable, Sendable {
    package var rect: BlockRect
    var cell: Int
    var version: UInt32
  }

  package enum Recall: Hashable, Sendable {
    /// Hash these cells of the newest picture, and say so by `finish`.
    case hash([Hashing])
    /// Nothing to do before this time, unless something happens; nil: without limit.
    case wait(until: Timestamp?)
  }

  package enum Step: Hashable, Sendable {
    /// Encode it from the newest picture, and say so by `finish`.
    case encode(Job)
    /// Nothing to do before this time, unless something happens; nil: without limit.
    case wait(until: Timestamp?)
  }

  /// A message to one viewer.
  package struct Delivery: Sendable {
    package var viewer: String
    package var message: [UInt8]
  }

  private struct Tile: Sendable {
    var rect: BlockRect
    var changed: Timestamp
    var changedBefore: Timestamp
    /// Whether its pixels take too many bytes.
    var isCostly = false
    /// Whether the neighbouring tiles together with this one take too many bytes.
    var isAlone = false
    /// Blocks of it, and of those beside it, as the newest picture has them, encoded.
    var encoded: (rect: BlockRect, webP: [UInt8])?
  }

  /// A whole picture that was sent outside the channel.
  private struct Snapshot: Sendable {
    /// By which its owners name it.
    var number: UInt32
    /// The blocks that have changed since the snapshot.
    var changed: BlockSet
    var expires: Timestamp
  }

  /// 512 × 128 pixels: larger ones compress better, smaller ones hold up less behind them.
  package static let tileSize = (columns: 32, rows: 8)
  /// Half the bytes of the pixels as they are, above which a tile stays video. Text is a tenth of it.
  package static let maximumBytesPerBlock = 230
  /// A tile rests when it has not changed for so long.
  static let restTime = TimeDelta.milliseconds(100)
  /// The rest time of a tile that changes all the time.
  static let movingRestTime = TimeDelta.milliseconds(300)
  /// Two changes closer to each other than this are a movement.
  static let movementGap = TimeDelta.milliseconds(80)
  /// A change of so many blocks at most goes at once: a word, a line, a button.
  static let smallChange = 64
  /// A viewer with a snapshot reports it within this time, or everything is sent.
  static let snapshotLife = TimeDelta.seconds(10)
  /// Snapshots that are remembered.
  static let maximumSnapshots = 4
  /// Patches that were too large are not tried again for this time.
  static let refusalTime = TimeDelta.milliseconds(500)
  /// Pixels that take longer than this to send do not delay the video any more.
  static let longestYield = TimeDelta.seconds(8)

  private var size = PixelSize(width: 0, height: 0)
  private var tiles: [Tile] = []
  private var grid = CellGrid(PixelSize(width: 0, height: 0), .zero)
  private var viewers: [String: ExactViewer] = [:]
  /// The blocks whose patches would have taken too many bytes, as photographs and films do.
  private var refused = Refused(PixelSize(width: 0, height: 0))
  /// The oldest first.
  private var snapshots: [Snapshot] = []
  /// The time of the newest picture or frame.
  private var newest = Timestamp.zero
  private var job: Job?
  /// Whether the rectangle being encoded has changed.
  private var isSpoilt = false

  package init() {}

  /// Blocks that are not tried again for a while. A repair has text beside the photograph that is too large, and the new
  /// rows of that text are sent none the less.
  private struct Refused {
    var new: BlockSet
    var repairs: BlockSet
    var until = Timestamp.zero

    init(_ size: PixelSize) { (new, repairs) = (BlockSet(size), BlockSet(size)) }

    var isEmpty: Bool { new.isEmpty && repairs.isEmpty }
  }

  /// Whether there is a visible viewer.
  package var hasViewers: Bool { viewers.values.contains { $0.isVisible } }

  /// Whether a viewer needs messages about changes, or may come and ask for them.
  package func wantsChanges(_ now: Timestamp) -> Bool { hasViewers || snapshots.contains { $0.expires > now } }

  /// Whether a viewer copies what moved.
  package var wantsMoves: Bool { viewers.values.contains { $0.copiesMoves } }

  /// Whether all viewers have what changed in the newest picture by moves and patches, so that the video may follow later.
  /// - Parameter count: the number of viewers of the video.
  package func isFollowed(_ changed: BlockSet, byViewers count: Int, _ now: Timestamp) -> Bool {
    count > 0 && viewers.values.count { $0.follows(changed, now) } == count
  }

  /// Chooses the patches that are to be encoded of a picture that moved, before it is taken: not those that would take too
  /// many bytes, and repairs of what viewers lack.
  /// - Parameter changed: the differences from the picture before.
  package mutating func choosePatches(of moved: inout MovedPicture, _ changed: BlockSet, _ now: Timestamp) {
    guard changed.size == size else { return }
    if refused.until <= now { refused = Refused(size) }
    moved.leaveOut(refused.new)
    var holes = BlockSet(size)
    for viewer in viewers.values {
      if let lacking = viewer.holes(after: moved, changed, now) { holes.formUnion(lacking) }
    }
    holes.subtract(refused.new)
    holes.subtract(refused.repairs)
    moved.repair(holes)
  }

  /// Patches and repairs of these blocks would take too many bytes.
  package mutating func refusePatches(of blocks: (new: BlockSet, repairs: BlockSet), _ now: Timestamp) {
    guard !(blocks.new.isEmpty && blocks.repairs.isEmpty), blocks.new.size == size else { return }
    if refused.isEmpty { refused.until = now + Self.refusalTime }
    refused.new.formUnion(blocks.new)
    refused.repairs.formUnion(blocks.repairs)
  }

  // MARK: - The picture

  /// Takes the newest picture, before the frame that shows it is sent.
  /// - Parameters:
  ///   - changed: the differences from the picture before; in a picture of another size, everything is new.
  ///   - moved: what of them has moved, and patches; nil: nothing.
  package mutating func take(
    _ changed: BlockSet, moved: MovedPicture? = nil, captureTime: Timestamp, now: Timestamp, into out: inout [Delivery]
  ) {
    newest = max(newest, captureTime)
    if changed.size != size { begin(changed.size, now, into: &out) }
    guard !changed.isEmpty else { return }
    snapshots.removeAll { $0.expires <= now }
    for index in snapshots.indices { snapshots[index].changed.formUnion(changed) }
    for index in tiles.indices {
      if let encoded = tiles[index].encoded, changed.intersects(encoded.rect) { tiles[index].encoded = nil }
      guard changed.intersects(tiles[index].rect) else { continue }
      tiles[index].changedBefore = tiles[index].changed
      tiles[index].changed = now
      (tiles[index].isCostly, tiles[index].isAlone) = (false, false)
    }
    grid.note(changed, now)
    if let job, changed.intersects(job.rect) { isSpoilt = true }
    var plan: MovePlan?
    for id in viewers.keys { out.add(viewers[id]?.change(changed, moved, newest, now: now, &plan), to: id) }
  }

  /// Everything sent is void; the next picture starts again.
  package mutating func reset(_ now: Timestamp, into out: inout [Delivery]) {
    begin(PixelSize(width: 0, height: 0), now, into: &out)
  }

  private mutating func begin(_ new: PixelSize, _ now: Timestamp, into out: inout [Delivery]) {
    size = new
    for id in viewers.keys { out.add(viewers[id]?.begin(new, newest), to: id) }
    isSpoilt = true
    snapshots = []
    refused = Refused(new)
    grid = CellGrid(new, now, after: grid.order)
    let all = BlockSet(new)
    tiles = stride(from: 0, to: all.rows, by: Self.tileSize.rows).flatMap { row in
      stride(from: 0, to: all.columns, by: Self.tileSize.columns).map { column in
        Tile(
          rect: BlockRect(
            column: column, row: row, width: min(Self.tileSize.columns, all.columns - column),
            height: min(Self.tileSize.rows, all.rows - row)),
          changed: now, changedBefore: .zero)
      }
    }
  }

  /// A frame of video is about to leave, which shows nothing that has not been taken in.
  package mutating func frame(
    _ captureTime: Timestamp, bytes: Int, now: Timestamp, into out: inout [Delivery]
  ) {
    newest = max(newest, captureTime)
    for id in viewers.keys {
      viewers[id]?.noteVideo(bytes: bytes, now: now)
      out.add(viewers[id]?.frame(newest), to: id)
    }
  }

  // MARK: - Viewers

  /// - Parameter clock: the RTP timestamp of the monotonic clock's origin in this viewer's video.
  package mutating func add(_ id: String, clock: RTPTimestamp, rate: BitRate?, now: Timestamp) {
    viewers[id] = ExactViewer(clock: clock, size: size, now: now)
    if let rate { viewers[id]?.setRate(rate, now: now) }
  }

  package mutating func remove(_ id: String) { viewers[id] = nil }

  /// Sets the bandwidth for video and exact pixels together, minus the exact pixels of the last second.
  package mutating func setRate(_ rate: BitRate, of id: String, now: Timestamp) {
    viewers[id]?.setRate(rate, now: now)
  }

  /// Sets whether the viewer's network answers. Nothing is delayed for a viewer that is unreachable.
  package mutating func setReachable(_ isReachable: Bool, _ id: String) { viewers[id]?.isReachable = isReachable }

  /// Takes a viewer's message. Its cost is limited by the viewer's budget.
  package mutating func handle(
    _ message: ExactViewerMessage, from id: String, now: Timestamp, into out: inout [Delivery]
  ) {
    switch message {
    case .ready(let isVisible, let number):
      viewers[id]?.setVisible(isVisible)
      guard isVisible, let snapshot = snapshots.first(where: { $0.number == number && $0.expires > now }) else {
        return
      }
      for message in viewers[id]?.adopt(but: snapshot.changed, newest) ?? [] { out.add(message, to: id) }
    case .acknowledgement(let number): viewers[id]?.acknowledge(number, now: now)
    case .cache(let slots): viewers[id]?.setCache(slots: slots, now: now)
    case .follows: viewers[id]?.follow()
    case .missing(let number, let cells):
      out.add(viewers[id]?.miss(number, cells: cells, in: grid, newest, now: now), to: id)
    }
  }

  /// The statistics of each viewer.
  package var statistics: [String: ExactViewerStatistics] {
    var left = BlockSet(size)
    for tile in tiles where tile.isCostly { left.insert(tile.rect) }
    return viewers.mapValues { $0.statistics(leaving: left) }
  }

  // MARK: - Snapshots

  /// A snapshot of the whole picture, with exact pixels, is sent to a viewer outside the channel.
  /// - Parameters:
  ///   - number: a different one for each picture.
  ///   - isNewest: nothing has changed since. If changes are not known otherwise, the number is of no use.
  package mutating func noteSnapshot(_ number: UInt32, isNewest: Bool, now: Timestamp) {
    let expires = now + Self.snapshotLife
    if let index = snapshots.firstIndex(where: { $0.number == number && $0.expires > now }) {
      snapshots[index].expires = expires
    } else if isNewest {
      if snapshots.count >= Self.maximumSnapshots { snapshots.removeFirst() }
      snapshots.append(Snapshot(number: number, changed: BlockSet(size), expires: expires))
    }
  }

  /// The snapshot was not exact after all.
  package mutating func forgetSnapshot(_ number: UInt32) { snapshots.removeAll { $0.number == number } }

  // MARK: - What pages keep

  /// Sends the names of pixels that pages keep, and returns the cells that have to be hashed before. This comes before
  /// `next`, which would encode the same pixels.
  package mutating func recall(_ now: Timestamp, into out: inout [Delivery]) -> Recall {
    guard viewers.values.contains(where: { $0.keepsCells }) else { return .wait(until: nil) }
    let due = grid.due(now)
    guard due.work.isEmpty else { return .hash(due.work) }
    var wake = due.soonest
    for id in viewers.keys {
      guard let (messages, next) = viewers[id]?.recall(grid, newest, now: now) else { continue }
      for message in messages { out.add(message, to: id) }
      if let next { wake = min(wake ?? next, next) }
    }
    return .wait(until: wake)
  }

  /// - Parameter hashes: the hash of each cell.
  package mutating func finish(_ work: [Hashing], _ hashes: [UInt64]) { grid.finish(work, hashes) }

  // MARK: - Work

  /// Sends encoded rectangles, and returns the next one to encode.
  package mutating func next(_ now: Timestamp, into out: inout [Delivery]) -> Step {
    var wanted: Job?
    var wake: Timestamp?
    func wait(until time: Timestamp) { wake = min(wake ?? time, time) }
    for id in viewers.keys.sorted() {
      while let viewer = viewers[id], viewer.isVisible, let turn = viewer.nextTurn() {
        let (due, soonest) = mostUrgent(for: viewer, now)
        if let soonest { wait(until: soonest) }
        guard let due else { break }
        guard turn <= now else {
          wait(until: turn)
          break
        }
        let strip = strip(around: due, for: viewer, now)
        guard let encoded = tiles[due.tile].encoded, encoded.rect.contains(due.rect),
          encoded.rect.area <= 2 * strip.rect.area
        else {
          wanted = wanted ?? job(strip, for: viewer)
          break
        }
        for message in viewers[id]?.send(encoded.rect, encoded.webP, newest, now: now) ?? [] {
          out.add(message, to: id)
        }
      }
    }
    guard job == nil, let wanted else { return .wait(until: job == nil ? wake : nil) }
    job = wanted
    isSpoilt = false
    return .encode(wanted)
  }

  /// - Parameter webP: nil: it could not be encoded.
  package mutating func finish(_ done: Job, _ webP: [UInt8]?) {
    guard done == job else { return }
    job = nil
    guard !isSpoilt, done.tiles.upperBound < tiles.count else { return }
    for index in done.tiles {
      if let webP, webP.count <= done.maximumBytes {
        tiles[index].encoded = (done.rect, webP)
      } else if done.tiles.count > 1 {
        tiles[index].isAlone = true
      } else {
        tiles[index].isCostly = true
      }
    }
  }

  private func job(_ strip: (tiles: ClosedRange<Int>, rect: BlockRect), for viewer: ExactViewer) -> Job {
    Job(
      rect: strip.rect, isThorough: strip.rect.area > Self.smallChange && viewer.isSlow,
      maximumBytes: strip.rect.area * Self.maximumBytesPerBlock + 512, tiles: strip.tiles)
  }

  /// The due tile together with its neighbours, if the viewer lacks them entirely too: together they take a quarter
  /// fewer bytes.
  private func strip(
    around due: (tile: Int, rect: BlockRect), for viewer: ExactViewer, _ now: Timestamp
  ) -> (tiles: ClosedRange<Int>, rect: BlockRect) {
    var strip = (tiles: due.tile...due.tile, rect: due.rect)
    func joins(_ index: Int) -> Bool {
      guard tiles.indices.contains(index) else { return false }
      let tile = tiles[index]
      return tile.rect.row == due.rect.row && !tile.isCostly && !tile.isAlone
        && viewer.lacks(in: tile.rect) == tile.rect
        && restTime(of: tile, tile.rect) <= now
    }
    guard joins(due.tile), due.rect == tiles[due.tile].rect else { return strip }
    while strip.tiles.count < viewer.mostTiles {
      if joins(strip.tiles.upperBound + 1) {
        strip.tiles = strip.tiles.lowerBound...strip.tiles.upperBound + 1
      } else if joins(strip.tiles.lowerBound - 1) {
        strip.tiles = strip.tiles.lowerBound - 1...strip.tiles.upperBound
      } else {
        break
      }
    }
    let (first, last) = (tiles[strip.tiles.lowerBound].rect, tiles[strip.tiles.upperBound].rect)
    strip.rect = BlockRect(
      column: first.column, row: first.row, width: last.endColumn - first.column, height: first.height)
    return strip
  }

  /// The viewer's missing part of the allowed tile that changed last; and the time at which the next is allowed.
  private func mostUrgent(
    for viewer: ExactViewer, _ now: Timestamp
  ) -> (due: (tile: Int, rect: BlockRect)?, soonest: Timestamp?) {
    var best: (tile: Int, rect: BlockRect)?
    var soonest: Timestamp?
    for (index, tile) in tiles.enumerated() where !tile.isCostly {
      guard let rect = viewer.lacks(in: tile.rect) else { continue }
      let time = restTime(of: tile, rect)
      guard time <= now else {
        soonest = min(soonest ?? time, time)
        continue
      }
      if best.map({ tiles[$0.tile].changed < tile.changed }) ?? true { best = (index, rect) }
    }
    return (best, soonest)
  }

  /// Whether a recently changed part is still, or about to be, and worth sending: the rate is better used for it than
  /// for finer video, which needs more bytes to become readable than exact text.
  /// - Parameter count: the number of reachable viewers of the video; if one of them has no exact pixels, the video
  ///   must not wait.
  package func wantsRate(ofViewers count: Int, _ now: Timestamp) -> Bool {
    let visible = viewers.values.filter { $0.isVisible && $0.isReachable }
    guard count > 0, visible.count == count else { return false }
    let takers = visible.filter { !$0.isStuck(now) }
    return tiles.contains { tile in
      guard !tile.isCostly, now - tile.changed < Self.longestYield else { return false }
      return takers.contains { viewer in
        viewer.lacks(in: tile.rect).map { !isMoving(tile) || restTime(of: tile, $0) <= now } ?? false
      }
    }
  }

  private func isMoving(_ tile: Tile) -> Bool { tile.changed - tile.changedBefore < Self.movementGap }

  private func restTime(of tile: Tile, _ rect: BlockRect) -> Timestamp {
    if isMoving(tile) { return tile.changed + Self.movingRestTime }
    return rect.area <= Self.smallChange ? tile.changed : tile.changed + Self.restTime
  }
}

extension [ExactScheduler.Delivery] {
  fileprivate mutating func add(_ message: [UInt8]?, to viewer: String) {
    if let message { append(ExactScheduler.Delivery(viewer: viewer, message: message)) }
  }
}
