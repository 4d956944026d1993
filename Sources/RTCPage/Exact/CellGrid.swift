import RTCPrimitives

/// The cells of a picture: the rectangles that pages keep once they have drawn them, each with the hash of its pixels.
/// One for all viewers.
///
/// A cell is hashed again only after it has changed: at once, so that content that a page keeps returns at once, but
/// while it changes all the time, as in a film, only when it has paused.
struct CellGrid: Sendable {
  struct Cell: Sendable {
    let rect: BlockRect
    /// The last change.
    fileprivate(set) var changed: Timestamp
    /// The last change before the burst to which `changed` belongs.
    fileprivate var changedBefore: Timestamp
    /// Whether the last two changes came close to each other.
    fileprivate var isMoving = false
    /// Counts changes.
    fileprivate var version: UInt32 = 0
    /// The hash of the pixels in the newest picture; nil: not known yet.
    fileprivate(set) var hash: UInt64?
    /// The last hash before this one.
    fileprivate(set) var before: UInt64?
    /// The place of `hash` in the order in which hashes became known.
    fileprivate(set) var order: UInt64 = 0
  }

  /// 128 × 64 pixels. Larger cells fail to match for a caret or a clock in them, and then more pixels have to be sent;
  /// smaller cells take more names.
  static let cellSize = (columns: 8, rows: 4)
  static let pixels = PixelSize(
    width: cellSize.columns * BlockSet.blockSize, height: cellSize.rows * BlockSet.blockSize)
  /// A cell that changes all the time is hashed when it has not changed for so long: more than a frame at 25 fps.
  static let pause = TimeDelta.milliseconds(50)
  /// Changes closer to each other than this are one: windows are painted in steps.
  static let burst = TimeDelta.milliseconds(300)
  /// A cell is worth keeping when it has not changed for so long,
  static let rest = TimeDelta.milliseconds(300)
  /// or, if it had changed in this time before, as a clock and typed text do,
  static let calm = TimeDelta.milliseconds(1_500)
  /// for so long.
  static let longRest = TimeDelta.seconds(2)

  private(set) var cells: [Cell] = []
  /// The number of hashes that became known.
  private(set) var order: UInt64 = 0
  private let columns: Int

  init(_ size: PixelSize, _ now: Timestamp, after order: UInt64 = 0) {
    let grid = BlockSet(size)
    let (width, height) = Self.cellSize
    columns = (grid.columns + width - 1) / width
    self.order = order
    // Messages have 16 bits for the place of a cell.
    guard columns * ((grid.rows + height - 1) / height) <= Int(UInt16.max) else { return }
    cells = stride(from: 0, to: grid.rows, by: height).flatMap { row in
      stride(from: 0, to: grid.columns, by: width).map { column in
        Cell(
          rect: BlockRect(
            column: column, row: row, width: min(width, grid.columns - column), height: min(height, grid.rows - row)),
          changed: now, changedBefore: .zero)
      }
    }
  }

  /// These blocks have changed.
  mutating func note(_ changed: BlockSet, _ now: Timestamp) {
    guard !cells.isEmpty, let bounds = changed.bounds(in: changed.whole) else { return }
    for row in bounds.row / Self.cellSize.rows...(bounds.endRow - 1) / Self.cellSize.rows {
      for column in bounds.column / Self.cellSize.columns...(bounds.endColumn - 1) / Self.cellSize.columns {
        let index = row * columns + column
        if changed.intersects(cells[index].rect) { change(index, now) }
      }
    }
  }

  private mutating func change(_ index: Int, _ now: Timestamp) {
    let gap = now - cells[index].changed
    if gap >= Self.burst { cells[index].changedBefore = cells[index].changed }
    cells[index].isMoving = gap < ExactScheduler.movementGap
    cells[index].changed = now
    cells[index].version &+= 1
    if let hash = cells[index].hash { cells[index].before = hash }
    cells[index].hash = nil
  }

  // MARK: - Hashes

  /// The cells to hash now, and when the next one is to be hashed.
  func due(_ now: Timestamp) -> (work: [ExactScheduler.Hashing], soonest: Timestamp?) {
    var work: [ExactScheduler.Hashing] = []
    var soonest: Timestamp?
    for (index, cell) in cells.enumerated() where cell.hash == nil {
      let time = cell.isMoving ? cell.changed + Self.pause : cell.changed
      if time <= now {
        work.append(ExactScheduler.Hashing(rect: cell.rect, cell: index, version: cell.version))
      } else {
        soonest = min(soonest ?? time, time)
      }
    }
    return (work, soonest)
  }

  /// Takes the hashes of cells; a cell that has changed meanwhile is hashed again.
  mutating func finish(_ work: [ExactScheduler.Hashing], _ hashes: [UInt64]) {
    for (done, hash) in zip(work, hashes) where cells.indices.contains(done.cell) {
      let cell = cells[done.cell]
      guard cell.hash == nil, cell.version == done.version, cell.rect == done.rect else { continue }
      order += 1
      cells[done.cell].hash = hash
      cells[done.cell].order = order
    }
  }

  /// When this cell is worth keeping, if it does not change before.
  func restTime(of cell: Cell) -> Timestamp {
    cell.changed + (cell.changed - cell.changedBefore < Self.calm ? Self.longRest : Self.rest)
  }
}
