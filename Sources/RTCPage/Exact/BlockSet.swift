package import RTCPrimitives

/// A rectangle of whole blocks; `column`, `row` is its upper left block.
package struct BlockRect: Hashable, Sendable, BitwiseCopyable {
  package var column: Int
  package var row: Int
  /// Blocks.
  package var width: Int
  /// Blocks.
  package var height: Int

  package init(column: Int, row: Int, width: Int, height: Int) {
    (self.column, self.row, self.width, self.height) = (column, row, width, height)
  }

  package var endColumn: Int { column + width }
  package var endRow: Int { row + height }
  /// Number of blocks.
  package var area: Int { width * height }

  /// True when every block of `other` is in it.
  package func contains(_ other: BlockRect) -> Bool {
    column <= other.column && row <= other.row && endColumn >= other.endColumn && endRow >= other.endRow
  }

  /// The pixels of the blocks in a picture of `size`, whose last blocks may be cut off.
  package func pixels(in size: PixelSize) -> PixelRect {
    let side = BlockSet.blockSize
    return PixelRect(x: column * side, y: row * side, width: width * side, height: height * side)
      .intersection(PixelRect(size))
  }
}

/// A set of the blocks of 16 × 16 pixels that a picture is made of.
package struct BlockSet: Hashable, Sendable {
  /// Pixels along each side of a block: that of a macroblock, so that blocks unchanged by the video are whole blocks.
  package static let blockSize = 16

  /// The picture's size, in pixels.
  package let size: PixelSize
  package let columns: Int
  package let rows: Int
  private let wordsPerRow: Int
  private var words: [UInt64]

  /// Makes an empty set for a picture of `size`.
  package init(_ size: PixelSize) {
    self.size = size
    columns = (max(0, size.width) + Self.blockSize - 1) / Self.blockSize
    rows = (max(0, size.height) + Self.blockSize - 1) / Self.blockSize
    wordsPerRow = (columns + 63) / 64
    words = [UInt64](repeating: 0, count: wordsPerRow * rows)
  }

  /// All the blocks of a picture of `size`.
  package static func all(of size: PixelSize) -> BlockSet {
    var all = BlockSet(size)
    all.insertAll()
    return all
  }

  /// The rectangle of all blocks.
  package var whole: BlockRect { BlockRect(column: 0, row: 0, width: columns, height: rows) }

  package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  /// Number of blocks in it.
  package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  package func contains(column: Int, row: Int) -> Bool {
    words[row * wordsPerRow + column / 64] >> UInt64(column % 64) & 1 == 1
  }

  // MARK: - Changing

  package mutating func insert(column: Int, row: Int) {
    words[row * wordsPerRow + column / 64] |= 1 << UInt64(column % 64)
  }

  /// Inserts the part of `rect` that lies in the picture.
  package mutating func insert(_ rect: BlockRect) { change(rect) { $0 |= $1 } }

  package mutating func remove(_ rect: BlockRect) { change(rect) { $0 &= ~$1 } }

  package mutating func insertAll() { insert(whole) }

  package mutating func removeAll() { for index in words.indices { words[index] = 0 } }

  /// Adds a set for a picture of the same size.
  package mutating func formUnion(_ other: BlockSet) { combine(other) { $0 | $1 } }

  package mutating func formIntersection(_ other: BlockSet) { combine(other) { $0 & $1 } }

  package mutating func subtract(_ other: BlockSet) { combine(other) { $0 & ~$1 } }

  private mutating func combine(_ other: BlockSet, _ body: (UInt64, UInt64) -> UInt64) {
    precondition(size == other.size, "BlockSet: sets of pictures of different sizes")
    for index in words.indices { words[index] = body(words[index], other.words[index]) }
  }

  private mutating func change(_ rect: BlockRect, _ body: (inout UInt64, UInt64) -> Void) {
    let columns = max(0, rect.column)..<max(0, rect.column, min(self.columns, rect.endColumn))
    let rows = max(0, rect.row)..<max(0, rect.row, min(self.rows, rect.endRow))
    for row in rows {
      for word in columns.wordRange { body(&words[row * wordsPerRow + word], columns.mask(ofWord: word)) }
    }
  }

  // MARK: - Reading

  /// True when they have a block in common.
  package func intersects(_ other: BlockSet) -> Bool {
    precondition(size == other.size, "BlockSet: sets of pictures of different sizes")
    return words.indices.contains { words[$0] & other.words[$0] != 0 }
  }

  package func intersects(_ rect: BlockRect) -> Bool { bounds(in: rect) != nil }

  /// Number of blocks of `rect`, which lies in the picture, that are in it.
  package func count(in rect: BlockRect) -> Int {
    let columns = rect.column..<rect.endColumn
    return (rect.row..<rect.endRow).reduce(0) { sum, row in
      columns.wordRange.reduce(sum) { $0 + (words[row * wordsPerRow + $1] & columns.mask(ofWord: $1)).nonzeroBitCount }
    }
  }

  /// Number of blocks in each column of `rect`, which lies in the picture, that are in it.
  func columnCounts(in rect: BlockRect) -> [Int] {
    var counts = [Int](repeating: 0, count: rect.width)
    let columns = rect.column..<rect.endColumn
    for row in rect.row..<rect.endRow {
      for word in columns.wordRange {
        var bits = words[row * wordsPerRow + word] & columns.mask(ofWord: word)
        while bits != 0 {
          counts[word * 64 + bits.trailingZeroBitCount - rect.column] += 1
          bits &= bits &- 1
        }
      }
    }
    return counts
  }

  /// The smallest rectangle with all blocks of the set in `rect`, which lies in the picture; nil without any.
  package func bounds(in rect: BlockRect) -> BlockRect? { bounds(in: rect) { $0 } }

  /// The smallest rectangle with all blocks of `rect` that are not in the set; nil without any.
  package func missing(in rect: BlockRect) -> BlockRect? { bounds(in: rect) { ~$0 } }

  private func bounds(in rect: BlockRect, _ read: (UInt64) -> UInt64) -> BlockRect? {
    var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
    let columns = rect.column..<rect.endColumn
    for row in rect.row..<rect.endRow {
      for word in columns.wordRange {
        let bits = read(words[row * wordsPerRow + word]) & columns.mask(ofWord: word)
        guard bits != 0 else { continue }
        left = min(left, word * 64 + bits.trailingZeroBitCount)
        right = max(right, word * 64 + 63 - bits.leadingZeroBitCount)
        (top, bottom) = (min(top, row), row)
      }
    }
    guard right >= 0 else { return nil }
    return BlockRect(column: left, row: top, width: right - left + 1, height: bottom - top + 1)
  }

  /// Rectangles that cover exactly the set: runs of a row, joined with equal runs below. If there would be more than
  /// `limit`, a single one that contains all.
  package func rects(limit: Int) -> [BlockRect] {
    var done: [BlockRect] = []
    var growing: [BlockRect] = []
    for row in 0..<rows {
      var still: [BlockRect] = []
      for var run in runs(of: row) {
        if let index = growing.firstIndex(where: { $0.column == run.column && $0.width == run.width }) {
          let above = growing.remove(at: index)
          (run.row, run.height) = (above.row, above.height + 1)
        }
        still.append(run)
      }
      done += growing
      growing = still
      if done.count + growing.count > limit { return bounds(in: whole).map { [$0] } ?? [] }
    }
    return done + growing
  }

  private func runs(of row: Int) -> [BlockRect] {
    var found: [BlockRect] = []
    for column in 0..<columns where contains(column: column, row: row) {
      if let last = found.last, last.endColumn == column {
        found[found.count - 1].width += 1
      } else {
        found.append(BlockRect(column: column, row: row, width: 1, height: 1))
      }
    }
    return found
  }
}

extension Range where Bound == Int {
  /// The words of 64 bits in which these bits are.
  fileprivate var wordRange: Range<Int> { isEmpty ? 0..<0 : lowerBound / 64..<(upperBound + 63) / 64 }

  /// The bits of this range within one of its words.
  fileprivate func mask(ofWord word: Int) -> UInt64 {
    let first = Swift.max(0, lowerBound - word * 64)
    let end = Swift.min(64, upperBound - word * 64)
    let upTo: UInt64 = end == 64 ? .max : 1 << UInt64(end) - 1
    return upTo & (.max << UInt64(first))
  }
}
