import RTCPrimitives

/// The result of a moved picture for a viewer, which can copy only pixels that it has.
struct MovePlan {
  private let held: BlockSet
  /// The patches that it is sent, in order.
  private let patches: [PixelRect]
  /// The blocks that the viewer has after the move.
  let after: BlockSet
  /// The blocks that it lacks then; nil: they are too many rectangles.
  let voids: [BlockRect]?
  /// The blocks that it draws; nil: there are none, or they are too many rectangles.
  let blocks: [BlockRect]?

  /// - Parameters:
  ///   - changed: the blocks that differ from the picture before.
  ///   - held: the blocks that the viewer has, or that are on their way to it, of the picture before.
  ///   - patches: the patches that it is sent.
  init(_ moved: MovedPicture, _ changed: BlockSet, _ held: BlockSet, taking patches: [PixelRect]) {
    (self.held, self.patches) = (held, patches)
    var candidates = moved.moved
    for patch in patches { candidates.insert(BlockRect(covering: patch)) }
    var drawn = BlockSet(held.size)
    if let bounds = candidates.bounds(in: candidates.whole) {
      for row in bounds.row..<bounds.endRow {
        for column in bounds.column..<bounds.endColumn where candidates.contains(column: column, row: row) {
          let block = BlockRect(column: column, row: row, width: 1, height: 1)
          if Self.isGiven(block, moved.moves, patches, held) { drawn.insert(column: column, row: row) }
        }
      }
    }
    var lost = held
    lost.formIntersection(changed)
    lost.subtract(drawn)
    var after = held
    after.subtract(lost)
    after.formUnion(drawn)
    self.after = after
    voids = lost.exactRects(limit: ExactMessage.maximumMoveRects)
    blocks = drawn.isEmpty ? nil : drawn.exactRects(limit: ExactMessage.maximumMoveRects)
  }

  /// Whether it was made for a viewer that holds the same.
  func isFor(_ held: BlockSet, taking patches: [PixelRect]) -> Bool { self.patches == patches && self.held == held }

  /// Whether every pixel of the block is new, or was held where it comes from.
  private static func isGiven(
    _ block: BlockRect, _ moves: [PictureMove], _ patches: [PixelRect], _ held: BlockSet
  ) -> Bool {
    let pixels = block.pixels(in: held.size)
    if patches.contains(where: { $0.contains(pixels) }) { return true }
    guard held.contains(column: block.column, row: block.row) || moves.contains(where: { $0.rect.contains(pixels) })
    else { return false }
    return moves.allSatisfy { move in
      let part = move.rect.intersection(pixels)
      return part.isEmpty || held.missing(in: BlockRect(covering: move.source(of: part))) == nil
    }
  }
}

extension BlockSet {
  /// Rectangles that cover exactly the set; nil if there would be more than `limit`.
  fileprivate func exactRects(limit: Int) -> [BlockRect]? {
    let rects = rects(limit: limit)
    return rects.reduce(0) { $0 + $1.area } == count ? rects : nil
  }
}
