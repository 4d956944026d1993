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
  /// If there would be more separate patches, they are one.
  static let maximumPatches = 24
  /// A change of so many blocks at most beside a movement is in patches too: a clock, typed text, a banner of 300 × 250.
  static let maximumAside = 320

  /// - Parameters:
  ///   - changed: the blocks in which the pictures differ.
  ///   - isMovement: whether something moved a moment ago. Then a small change is in patches, even if nothing moved.
  /// - Returns: nil if nothing moved, and the change is not to be in patches.
  package static func find(
    from old: PixelBuffer, to new: PixelBuffer, changed: BlockSet, isMovement: Bool = false
  ) -> MovedPicture? {
    guard changed.count >= leastChange || isMovement && !changed.isEmpty, old.size == new.size,
      changed.size == new.size, old.format == new.format,
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
    if !moves.isEmpty { return picture(moves, changed, before, after) }
    guard isMovement, changed.count <= maximumAside else { return nil }
    let patches = patches(for: [changed], [], before, after)
    return MovedPicture(moves: [], moved: BlockSet(changed.size), patches: patches)
  }

  private struct Found {
    var move: PictureMove
    /// Blocks that are as those at its distance were before.
    var matching: BlockSet
  }

  private static func next(_ changed: BlockSet, _ old: borrowing PixelRows, _ new: borrowing PixelRows) -> Found? {
    for axis in MoveSearch.Axis.allCases {
      var search = MoveSearch(axis, of: changed)
      while let distance = search.next(old, new) {
        let (dx, dy) = axis == .vertical ? (0, distance) : (distance, 0)
        if let found = region(of: changed, dx, dy, old, new) { return found }
      }
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
      let strip = BlockRect(column: bounds.column, row: rect.row, width: bounds.width, height: rect.height)
      let (good, all) = (matching.columnCounts(in: strip), changed.columnCounts(in: strip))
      guard let columns = heaviest(zip(good, all).map { 2 * $0 - $1 }) else { return nil }
      (rect.column, rect.width) = (bounds.column + columns.lowerBound, columns.count)
      let rows = (bounds.row..<bounds.endRow).map { row in
        let row = BlockRect(column: rect.column, row: row, width: rect.width, height: 1)
        return 2 * matching.count(in: row) - changed.count(in: row)
      }
      guard let rows = heaviest(rows) else { return nil }
      (rect.row, rect.height) = (bounds.row + rows.lowerBound, rows.count)
    }
    guard matching.count(in: rect) >= leastMove else { return nil }
    var inner = rect.pixels(in: changed.size)
    // Unchanged blocks at the edge may have no source.
    inner = inner.intersection(PixelRect(changed.size).moved(dx, dy))
    guard !inner.isEmpty else { return nil }
    let whole = extended(inner, dx, dy, in: changed.size, old, new)
    return Found(move: PictureMove(whole, dx: dx, dy: dy), matching: equal)
  }

  /// The part with the greatest sum of weights, above zero.
  private static func heaviest(_ weights: [Int]) -> Range<Int>? {
    var (best, heaviest): (Range<Int>?, Int) = (nil, 0)
    var (first, sum) = (0, 0)
    for (index, weight) in weights.enumerated() {
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
    let before = columns(beside: rect, atEnd: false, dx, dy, in: size, old, new)
    let after = columns(beside: rect, atEnd: true, dx, dy, in: size, old, new)
    (rect.x, rect.width) = (rect.x - before, rect.width + before + after)
    return rect
  }
  /// Columns and rows by which it is extended to each side: with as many as a block has, one more block would be equal.
  private static let most = BlockSet.blockSize - 1

  /// The number of columns by which the rectangle is extended to the left, or at its end to the right.
  private static func columns(
    beside rect: PixelRect, atEnd: Bool, _ dx: Int, _ dy: Int, in size: PixelSize, _ old: borrowing PixelRows,
    _ new: borrowing PixelRows
  ) -> Int {
    // The x of the leftmost of the columns `from`..<`count`, which are counted away from the rectangle.
    func part(_ count: Int, from: Int = 0) -> Int { atEnd ? rect.maxX + from : rect.x - count }
    func place(_ index: Int) -> Int { atEnd ? rect.maxX + index : rect.x - 1 - index }
    var count = atEnd ? size.width - max(rect.maxX, rect.maxX - dx) : min(rect.x, rect.x - dx)
    count = min(most, count)
    guard count > 0 else { return 0 }
    for y in rect.y..<rect.maxY where count > 0 {
      let (a, b) = (new.line(y), old.line(y - dy))
      guard PixelRows.differ(a, at: part(count), b, at: part(count) - dx, count: count) else { continue }
      count = (0..<count).first { PixelRows.differ(a, at: place($0), b, at: place($0) - dx, count: 1) } ?? count
    }
    var useful = 0
    for y in rect.y..<rect.maxY where useful < count {
      let (a, b) = (new.line(y), old.line(y))
      let rest = part(count, from: useful)
      guard PixelRows.differ(a, at: rest, b, at: rest, count: count - useful) else { continue }
      useful =
        (useful..<count).last { PixelRows.differ(a, at: place($0), b, at: place($0), count: 1) }.map { $0 + 1 }
        ?? useful
    }
    return useful
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
    var (moved, near) = (BlockSet(size), BlockSet(size))
    for (move, matching) in found.map({ ($0.move, $0.matching) }) {
      let inner = BlockRect(within: move.rect, in: size)
      var right = BlockSet(size)
      right.insert(inner)
      right.formIntersection(matching)
      moved.formUnion(right)
      let blocks = BlockRect(covering: move.rect)
      for row in blocks.row..<blocks.endRow {
        for column in blocks.column..<blocks.endColumn {
          let block = BlockRect(column: column, row: row, width: 1, height: 1)
          guard !inner.contains(block), mismatch(block.pixels(in: size), moves, old, new) == nil else { continue }
          moved.insert(column: column, row: row)
        }
      }
      near.insert(MovedPicture.surroundings(of: move, in: size))
    }
    var aside = changed
    aside.subtract(moved)
    near.formIntersection(aside)
    aside.subtract(near)
    let residual = aside.count <= maximumAside ? [near, aside] : [near]
    return MovedPicture(moves: moves, moved: moved, patches: patches(for: residual, moves, old, new))
  }

  /// Patches for what the moves do not give of each set, the smallest first, as many as may be encoded.
  private static func patches(
    for sets: [BlockSet], _ moves: [PictureMove], _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> [PixelRect] {
    var patches: [PixelRect] = []
    for set in sets {
      for rect in set.rects(limit: maximumPatches) {
        if let patch = mismatch(rect.pixels(in: set.size), moves, old, new) { patches.append(patch) }
      }
    }
    patches.sort { $0.area < $1.area }
    var area = 0
    return Array(
      patches.prefix { patch in
        area += patch.area
        return area <= MovedPicture.maximumPatchArea
      })
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

extension PixelRect {
  fileprivate func moved(_ dx: Int, _ dy: Int) -> PixelRect {
    PixelRect(x: x + dx, y: y + dy, width: width, height: height)
  }

  /// True when every pixel of `other` is in it.
  package func contains(_ other: PixelRect) -> Bool { intersection(other) == other }
}
