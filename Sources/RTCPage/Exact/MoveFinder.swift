package import RTCMedia
package import RTCPrimitives

/// Finds what moved between two pictures, exactly: text that scrolls, up and down or sideways, in several panes.
///
/// Where much has changed, `MoveSearch` says by which distance it has probably moved. Then pixels are compared: a move
/// is the rectangle in which most changed blocks are what was at that distance before. What the moves do not give is
/// in patches. So nothing is approximate; a wrong guess costs bytes.
package enum MoveFinder {
  /// With fewer changed blocks nothing is searched.
  static let leastChange = 64
  /// A move of fewer blocks is not worth a message.
  static let leastMove = 32
  static let maximumMoves = 3
  /// Pixels of all patches at most: encoding them takes about 40 ns for each.
  static let maximumPatchArea = 160_000
  /// More separate patches than this are none.
  static let maximumPatches = 24

  /// - Parameter changed: the blocks in which the pictures differ.
  /// - Returns: nil if nothing moved.
  package static func find(from old: PixelBuffer, to new: PixelBuffer, changed: BlockSet) -> MovedPicture? {
    guard changed.count >= leastChange, old.size == new.size, changed.size == new.size, old.format == new.format,
      new.format.planeCount == 1
    else { return nil }
    // Bytes have no padding.
    let before = unsafe PixelRows(bytes: old.bytes(ofPlane: 0).bytes, stride: old.stride(ofPlane: 0))
    let after = unsafe PixelRows(bytes: new.bytes(ofPlane: 0).bytes, stride: new.stride(ofPlane: 0))
    var (moves, left) = ([Found](), changed)
    while moves.count < maximumMoves, left.count >= leastChange, let found = next(left, before, after),
      moves.allSatisfy({ $0.move.rect.intersection(found.move.rect).isEmpty })
    {
      moves.append(found)
      left.remove(BlockRect(covering: found.move.rect))
    }
    return moves.isEmpty ? nil : picture(moves, changed, before, after)
  }

  private struct Found {
    var move: PictureMove
    /// Blocks that are as those at its distance were before.
    var matching: BlockSet
  }

  private static func next(_ changed: BlockSet, _ old: borrowing PixelRows, _ new: borrowing PixelRows) -> Found? {
    for axis in MoveSearch.Axis.allCases {
      guard let distance = MoveSearch.distance(axis, of: changed, old, new) else { continue }
      let (dx, dy) = axis == .vertical ? (0, distance) : (distance, 0)
      if let found = region(of: changed, dx, dy, old, new) { return found }
    }
    return nil
  }

  // MARK: - Where

  /// The rectangle in which the changed blocks have moved by this distance.
  private static func region(
    of changed: BlockSet, _ dx: Int, _ dy: Int, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> Found? {
    guard let bounds = changed.bounds(in: changed.whole) else { return nil }
    let equal = PictureComparison.equalBlocks(of: changed.size, in: bounds, dx: dx, dy: dy, old, new)
    var matching = equal
    matching.formIntersection(changed)
    // Twice, as what lies beside the columns counts in the rows at first.
    var rect = bounds
    for _ in 0..<2 {
      guard
        let columns = heaviest(
          bounds.column..<bounds.endColumn,
          weight: { column in
            weight(BlockRect(column: column, row: rect.row, width: 1, height: rect.height), matching, of: changed)
          })
      else { return nil }
      (rect.column, rect.width) = (columns.lowerBound, columns.count)
      guard
        let rows = heaviest(
          bounds.row..<bounds.endRow,
          weight: { row in
            weight(BlockRect(column: rect.column, row: row, width: rect.width, height: 1), matching, of: changed)
          })
      else { return nil }
      (rect.row, rect.height) = (rows.lowerBound, rows.count)
    }
    guard matching.count(in: rect) >= leastMove else { return nil }
    var inner = rect.pixels(in: changed.size)
    // Unchanged blocks at the edge may have no source.
    inner = inner.intersection(PixelRect(changed.size).moved(dx, dy))
    guard !inner.isEmpty else { return nil }
    let whole = extended(inner, dx, dy, in: changed.size, old, new)
    return Found(move: PictureMove(whole, dx: dx, dy: dy), matching: equal)
  }

  private static func weight(_ rect: BlockRect, _ matching: BlockSet, of changed: BlockSet) -> Int {
    2 * matching.count(in: rect) - changed.count(in: rect)
  }

  /// The part of the range with the greatest sum of weights, above zero.
  private static func heaviest(_ range: Range<Int>, weight: (Int) -> Int) -> Range<Int>? {
    var (best, heaviest): (Range<Int>?, Int) = (nil, 0)
    var (first, sum) = (range.lowerBound, 0)
    for index in range {
      let weight = weight(index)
      if sum <= 0 {
        guard weight > 0 else { continue }
        (first, sum) = (index, 0)
      }
      sum += weight
      if sum > heaviest { (best, heaviest) = (first..<index + 1, sum) }
    }
    return best
  }

  /// The rectangle, extended on each side as far as the pixels beside it have moved too, but by less than a block, and
  /// not by lines that are as before as well.
  private static func extended(
    _ rect: PixelRect, _ dx: Int, _ dy: Int, in size: PixelSize, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> PixelRect {
    var rect = rect
    let most = BlockSet.blockSize - 1
    func extend(_ line: (Int) -> PixelRect) -> Int {
      var (count, useful) = (0, 0)
      while count < most, isEqual(line(count), dx, dy, in: size, old, new) {
        count += 1
        if !isEqual(line(count - 1), 0, 0, in: size, old, new) { useful = count }
      }
      return useful
    }
    let above = extend { PixelRect(x: rect.x, y: rect.y - 1 - $0, width: rect.width, height: 1) }
    (rect.y, rect.height) = (rect.y - above, rect.height + above)
    rect.height += extend { PixelRect(x: rect.x, y: rect.maxY + $0, width: rect.width, height: 1) }
    let before = extend { PixelRect(x: rect.x - 1 - $0, y: rect.y, width: 1, height: rect.height) }
    (rect.x, rect.width) = (rect.x - before, rect.width + before)
    rect.width += extend { PixelRect(x: rect.maxX + $0, y: rect.y, width: 1, height: rect.height) }
    return rect
  }

  /// Whether the pixels of `rect` are what was at this distance before; false beyond the picture.
  private static func isEqual(
    _ rect: PixelRect, _ dx: Int, _ dy: Int, in size: PixelSize, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> Bool {
    let (whole, source) = (PixelRect(size), rect.moved(-dx, -dy))
    guard rect.intersection(whole) == rect, source.intersection(whole) == source else { return false }
    for y in rect.y..<rect.maxY
    where PixelRows.differ(new.line(y), at: rect.x, old.line(y - dy), at: rect.x - dx, count: rect.width) {
      return false
    }
    return true
  }

  // MARK: - What the moves give

  private static func picture(
    _ found: [Found], _ changed: BlockSet, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> MovedPicture {
    let (size, moves) = (changed.size, found.map(\.move))
    var (moved, residual) = (BlockSet(size), BlockSet(size))
    for (move, matching) in found.map({ ($0.move, $0.matching) }) {
      let blocks = BlockRect(covering: move.rect)
      for row in blocks.row..<blocks.endRow {
        for column in blocks.column..<blocks.endColumn {
          let block = BlockRect(column: column, row: row, width: 1, height: 1).pixels(in: size)
          let isRight =
            move.rect.contains(block)
            ? matching.contains(column: column, row: row) : mismatch(block, moves, old, new) == nil
          if isRight { moved.insert(column: column, row: row) }
        }
      }
      // New rows and columns lie beside a move, at most as far as it moved.
      let around = BlockRect(
        covering: move.rect.expanded(by: max(abs(move.dx), abs(move.dy)) + BlockSet.blockSize)
          .intersection(PixelRect(size)))
      residual.insert(around)
    }
    residual.formIntersection(changed)
    residual.subtract(moved)
    let rects = residual.rects(limit: maximumPatches)
    let patches = rects.compactMap { mismatch($0.pixels(in: size), moves, old, new) }
    guard patches.reduce(0, { $0 + $1.area }) <= maximumPatchArea else {
      return MovedPicture(moves: moves, moved: moved, patched: BlockSet(size), patches: [])
    }
    return MovedPicture(moves: moves, moved: moved, patched: residual, patches: patches)
  }

  /// The smallest rectangle with all pixels of `rect` that the moves do not give; nil if they give all.
  private static func mismatch(
    _ rect: PixelRect, _ moves: [PictureMove], _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> PixelRect? {
    let moves = moves.filter { !$0.rect.intersection(rect).isEmpty }.sorted { $0.rect.x < $1.rect.x }
    var found = PixelRect(x: 0, y: 0, width: 0, height: 0)
    for y in rect.y..<rect.maxY {
      let row = PixelRect(x: rect.x, y: y, width: rect.width, height: 1)
      // From left to right: what a move covers, and what is as before.
      var x = row.x
      for move in moves {
        let part = move.rect.intersection(row)
        guard !part.isEmpty else { continue }
        let still = PixelRect(x: x, y: y, width: part.x - x, height: 1)
        found = found.union(difference(still, 0, 0, old, new)).union(difference(part, move.dx, move.dy, old, new))
        x = part.maxX
      }
      found = found.union(difference(PixelRect(x: x, y: y, width: row.maxX - x, height: 1), 0, 0, old, new))
    }
    return found.isEmpty ? nil : found
  }

  /// The part of one row from its first pixel that is not what was at this distance before, to its last.
  private static func difference(
    _ row: PixelRect, _ dx: Int, _ dy: Int, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> PixelRect {
    let none = PixelRect(x: 0, y: 0, width: 0, height: 0)
    guard row.width > 0 else { return none }
    let (a, b) = (new.line(row.y), old.line(row.y - dy))
    guard PixelRows.differ(a, at: row.x, b, at: row.x - dx, count: row.width) else { return none }
    func differs(_ x: Int) -> Bool { PixelRows.differ(a, at: x, b, at: x - dx, count: 1) }
    var (first, last) = (row.x, row.maxX - 1)
    while !differs(first) { first += 1 }
    while !differs(last) { last -= 1 }
    return PixelRect(x: first, y: row.y, width: last + 1 - first, height: 1)
  }
}

extension BlockRect {
  /// The blocks that have a pixel of `rect`.
  package init(covering rect: PixelRect) {
    let side = BlockSet.blockSize
    let (column, row) = (rect.x / side, rect.y / side)
    self.init(
      column: column, row: row, width: (rect.maxX + side - 1) / side - column,
      height: (rect.maxY + side - 1) / side - row)
  }
}

extension PixelRect {
  fileprivate func moved(_ dx: Int, _ dy: Int) -> PixelRect {
    PixelRect(x: x + dx, y: y + dy, width: width, height: height)
  }

  fileprivate func expanded(by pixels: Int) -> PixelRect {
    PixelRect(x: x - pixels, y: y - pixels, width: width + 2 * pixels, height: height + 2 * pixels)
  }

  /// True when every pixel of `other` is in it.
  package func contains(_ other: PixelRect) -> Bool { intersection(other) == other }
}
