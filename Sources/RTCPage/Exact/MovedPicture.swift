package import RTCPrimitives

/// Pixels that were elsewhere in the picture before.
package struct PictureMove: Hashable, Sendable {
  /// The place of the pixels in the new picture.
  package var rect: PixelRect
  /// The pixel at (x, y) was at (x − dx, y − dy).
  package var dx: Int
  package var dy: Int

  package init(_ rect: PixelRect, dx: Int, dy: Int) { (self.rect, self.dx, self.dy) = (rect, dx, dy) }

  /// The place of the pixels of `part` in the picture before.
  package func source(of part: PixelRect) -> PixelRect {
    PixelRect(x: part.x - dx, y: part.y - dy, width: part.width, height: part.height)
  }

  /// The place in the new picture of the pixels of `part` of the picture before.
  func target(of part: PixelRect) -> PixelRect {
    PixelRect(x: part.x + dx, y: part.y + dy, width: part.width, height: part.height)
  }
}

/// How a picture follows from the picture before: pixels moved, and patches of new pixels are laid upon them.
package struct MovedPicture: Hashable, Sendable {
  /// New pixels. The blocks that have one of them are right after the moves and this patch.
  package struct Patch: Hashable, Sendable {
    package var rect: PixelRect
    /// Whether some viewers have these pixels after the moves alone, and others do not.
    package var isRepair = false
    /// Empty until it is encoded.
    package var webP: [UInt8] = []
  }

  /// Their rectangles have no pixel in common. Empty: a small part changed while another part is in a movement.
  package var moves: [PictureMove]
  /// The blocks that are right after the moves. Pixels of them that no move covers are as before.
  package var moved: BlockSet
  /// The patches, the most important first.
  package private(set) var patches: [Patch]

  package init(moves: [PictureMove], moved: BlockSet, patches: [PixelRect]) {
    (self.moves, self.moved) = (moves, moved)
    self.patches = patches.map { Patch(rect: $0) }
  }

  /// The blocks that are right after the moves and the patches, but not after the moves alone.
  package var patched: BlockSet {
    var blocks = BlockSet(moved.size)
    for patch in patches { blocks.insert(BlockRect(covering: patch.rect)) }
    blocks.subtract(moved)
    return blocks
  }

  /// The blocks in and around a move, at most as far from it as it moved: new rows and columns lie there.
  package static func surroundings(of move: PictureMove, in size: PixelSize) -> BlockRect {
    let distance = max(abs(move.dx), abs(move.dy)) + BlockSet.blockSize
    let rect = PixelRect(
      x: move.rect.x - distance, y: move.rect.y - distance, width: move.rect.width + 2 * distance,
      height: move.rect.height + 2 * distance)
    return BlockRect(covering: rect.intersection(PixelRect(size)))
  }

  /// Leaves out the patches of which all blocks are in `blocks`.
  mutating func leaveOut(_ blocks: BlockSet) {
    patches.removeAll { blocks.missing(in: BlockRect(covering: $0.rect)) == nil }
  }

  /// Encodes the patches. Those that are not encoded are left out.
  /// - Returns: the blocks of the patches that were left out, and those of repairs that were.
  @discardableResult
  package mutating func encode(_ body: (PixelRect) -> [UInt8]?) -> (new: BlockSet, repairs: BlockSet) {
    var failed = (new: BlockSet(moved.size), repairs: BlockSet(moved.size))
    for index in patches.indices.reversed() {
      if let webP = body(patches[index].rect) {
        patches[index].webP = webP
      } else {
        let blocks = BlockRect(covering: patches[index].rect)
        if patches[index].isRepair { failed.repairs.insert(blocks) } else { failed.new.insert(blocks) }
        patches.remove(at: index)
      }
    }
    return failed
  }
}

// MARK: - Repairs

/// A viewer lacks blocks of a movement if a step or a patch was left out. The next steps would move these holes along, so
/// they also send new pixels for them.
extension MovedPicture {
  /// Pixels of all patches at most: encoding them takes about 40 ns for each.
  static let maximumPatchArea = 160_000
  /// Repairs of one step at most.
  static let maximumRepairs = 24

  /// The blocks in and around the moves that a viewer lacks after the moves and patches, and that have not changed
  /// otherwise.
  /// - Parameters:
  ///   - held: the blocks that it has of the picture before.
  ///   - changed: the blocks that differ from the picture before.
  func holes(of held: BlockSet, _ changed: BlockSet) -> BlockSet {
    let size = moved.size
    var (near, before, holes) = (BlockSet(size), BlockSet.all(of: size), BlockSet(size))
    for move in moves { near.insert(Self.surroundings(of: move, in: size)) }
    before.subtract(held)
    before.formIntersection(near)
    guard !before.isEmpty else { return holes }
    // Holes move with the pixels, and those that are not all in a move stay as well.
    for rect in before.rects(limit: 512) {
      for move in moves {
        let part = rect.pixels(in: size).intersection(move.source(of: move.rect))
        if !part.isEmpty { holes.insert(BlockRect(covering: move.target(of: part))) }
      }
    }
    for move in moves { before.remove(BlockRect(within: move.rect, in: size)) }
    holes.formUnion(before)
    var other = changed
    other.subtract(moved)
    other.subtract(patched)
    holes.subtract(other)
    holes.formIntersection(near)
    for patch in patches where !patch.isRepair { holes.remove(BlockRect(within: patch.rect, in: size)) }
    return holes
  }

  /// Adds patches for these blocks, as many as may be encoded: first those that stay in the movement for the longest time.
  mutating func repair(_ holes: BlockSet) {
    var left = Self.maximumPatchArea - patches.reduce(0) { $0 + $1.rect.area }
    // Where there are many holes, the only rectangle also contains blocks that are none.
    let parts = holes.rects(limit: 64).flatMap { $0.parts(of: ExactScheduler.tileSize) }.compactMap {
      holes.bounds(in: $0)
    }
    let ordered = parts.map { ($0, distance($0.pixels(in: moved.size))) }.sorted { $0.1 < $1.1 }
    for (part, _) in ordered.prefix(Self.maximumRepairs) {
      let pixels = part.pixels(in: moved.size)
      guard pixels.area <= left else { return }
      left -= pixels.area
      patches.append(Patch(rect: pixels, isRepair: true))
    }
  }

  /// The distance from the edge at which new pixels come.
  private func distance(_ rect: PixelRect) -> Int {
    let near = moves.first {
      !Self.surroundings(of: $0, in: moved.size).pixels(in: moved.size).intersection(rect).isEmpty
    }
    guard let move = near else { return 0 }
    if move.dy != 0 { return move.dy < 0 ? move.rect.maxY - rect.maxY : rect.y - move.rect.y }
    return move.dx < 0 ? move.rect.maxX - rect.maxX : rect.x - move.rect.x
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

  /// The blocks of a picture of `size` that have all their pixels in `rect`, which lies in it.
  init(within rect: PixelRect, in size: PixelSize) {
    let side = BlockSet.blockSize
    let (column, row) = ((rect.x + side - 1) / side, (rect.y + side - 1) / side)
    // The last blocks of a picture may be cut off.
    let endColumn = rect.maxX == size.width ? (rect.maxX + side - 1) / side : rect.maxX / side
    let endRow = rect.maxY == size.height ? (rect.maxY + side - 1) / side : rect.maxY / side
    self.init(column: column, row: row, width: max(0, endColumn - column), height: max(0, endRow - row))
  }

  /// It in parts of at most this size.
  fileprivate func parts(of size: (columns: Int, rows: Int)) -> [BlockRect] {
    stride(from: row, to: endRow, by: size.rows).flatMap { row in
      stride(from: column, to: endColumn, by: size.columns).map { column in
        BlockRect(
          column: column, row: row, width: min(size.columns, endColumn - column), height: min(size.rows, endRow - row))
      }
    }
  }
}
