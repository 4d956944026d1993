import RTCMedia

/// The state of each 16×16 block: how well viewers see it, and how much detail it holds.
struct BlockMap {
  /// The `quality` of a block whose newest pixels were not coded yet.
  static let changed: UInt8 = 255
  /// The coarsest quantiser that any codec has.
  static let coarsest: UInt8 = 63
  /// The `quality` of a block that was coded as finely as the codec is asked for, and yet is not as sharp: the codec
  /// left out more of it.
  static let imperfect: UInt8 = 64

  /// The qualities of blocks that were coded, but coarser than with `quantizer`.
  static func qualities(coarserThan quantizer: Int) -> Range<UInt8> {
    UInt8(min(quantizer, Int(coarsest)) + 1)..<coarsest + 1
  }

  private let columns: Int
  private let rows: Int
  /// The side, in blocks, of a group that the codec codes as one. It may change any block of a group with an active
  /// block.
  private let group: Int
  /// The quantiser (1…63) each block was last coded with, `imperfect` or `changed`.
  private(set) var quality: [UInt8]
  /// The quality of the pixels that viewers have of each block, whatever changed since.
  private var shown: [UInt8]
  /// The detail in each block, 1…255: the cost of coding it, relative to other blocks.
  private(set) var weight: [UInt8]
  /// The number of neighbours in each block that differ but little (`FilmDetector`), 0…`BlockDetail.pairs`.
  private var similar: [UInt8]
  /// Whether the coming frame codes each block; the other blocks keep the pixels of the last frame.
  private(set) var active: [Bool]
  /// The number of the change that last touched each block.
  private var changeNumber: [UInt32]
  private var lastChangeNumber: UInt32 = 0

  init(size: PixelSize, group: Int) {
    self.group = group
    columns = (size.width + 15) / 16
    rows = (size.height + 15) / 16
    quality = Array(repeating: Self.changed, count: columns * rows)
    shown = quality
    weight = Array(repeating: 64, count: columns * rows)
    similar = Array(repeating: 0, count: columns * rows)
    active = Array(repeating: true, count: columns * rows)
    changeNumber = Array(repeating: 0, count: columns * rows)
  }

  var count: Int { quality.count }

  /// The blocks that `rects` touch, each once; nil = all.
  func blocks(in rects: [PixelRect]?, of size: PixelSize) -> [Int] {
    guard let rects else { return Array(quality.indices) }
    var isTouched = [Bool](repeating: false, count: count)
    for rect in rects {
      let inside = rect.intersection(PixelRect(size))
      guard !inside.isEmpty else { continue }
      for row in inside.y / 16...(inside.maxY - 1) / 16 {
        for index in row * columns + inside.x / 16...row * columns + (inside.maxX - 1) / 16 { isTouched[index] = true }
      }
    }
    return isTouched.indices.filter { isTouched[$0] }
  }

  /// True when refinement has something to do, were everything at rest.
  func hasRefinable(above finest: Int) -> Bool {
    quality.contains { Int($0) > finest }
  }

  /// Says that the pixels of `blocks` are new.
  mutating func markChanged(_ blocks: [Int]) {
    guard !blocks.isEmpty else { return }
    lastChangeNumber &+= 1
    for index in blocks {
      quality[index] = Self.changed
      changeNumber[index] = lastChangeNumber
    }
  }

  /// Says that all blocks must be coded anew, though none changed.
  mutating func markUnseen() {
    for index in quality.indices { quality[index] = Self.changed }
  }

  mutating func setDetail(_ detail: BlockDetail, of index: Int) {
    (weight[index], similar[index]) = (detail.weight, detail.similar)
  }

  /// The share of neighbours in the changed blocks that differ but little, 0…1, for `FilmDetector`.
  var changedSimilarity: Double {
    var (sum, count) = (0, 0)
    for index in quality.indices where quality[index] == Self.changed {
      sum += Int(similar[index])
      count += 1
    }
    return Double(sum) / Double(max(1, count * BlockDetail.pairs))
  }

  /// The number of blocks that were not coded since they changed, and their total weight in units of a fully detailed
  /// block.
  var changedExtent: (count: Int, weight: Double) {
    var count = 0
    var sum = 0
    for index in quality.indices where quality[index] == Self.changed {
      count += 1
      sum += Int(weight[index])
    }
    return (count, Double(sum) / 255)
  }

  /// The weight of the blocks that may be refined, by quality, in units of a fully detailed block.
  ///
  /// - Parameter allRests: true: all blocks may be refined. False: only blocks that the last two changes left alone, as
  ///   the changed ones (a video in a page, say) will soon be new again.
  func refinableWeights(allRests: Bool) -> [Double] {
    var sums = [Int](repeating: 0, count: 256)
    let limit = refinable(allRests)
    for index in quality.indices where changeNumber[index] <= limit {
      sums[Int(quality[index])] += Int(weight[index])
    }
    return sums.map { Double($0) / 255 }
  }

  private func refinable(_ allRests: Bool) -> UInt32 {
    allRests ? lastChangeNumber : lastChangeNumber - min(lastChangeNumber, 2)
  }

  /// Makes all blocks active.
  mutating func selectAll() {
    for index in active.indices { active[index] = true }
  }

  /// Makes the changed blocks active and no others.
  mutating func selectChanged() {
    for index in active.indices { active[index] = quality[index] == Self.changed }
  }

  /// Makes refinable blocks of these qualities active, by rows of groups from the top, as long as there are fewer
  /// than `most` and `cost`, called with quality and weight of each, sums up to less than `bytes`.
  mutating func select(
    _ qualities: ClosedRange<UInt8>, allRests: Bool, most: Int, bytes: Double, cost: (UInt8, Double) -> Double
  ) {
    let newest = refinable(allRests)
    var (left, budget) = (most, bytes)
    for index in active.indices { active[index] = false }
    // Whole groups, as what is coded beside the active blocks of one may change a little.
    for top in stride(from: 0, to: rows, by: group) {
      for start in stride(from: 0, to: columns, by: group) where left > 0 && budget > 0 {
        for row in top..<min(top + group, rows) {
          for index in row * columns + start..<row * columns + min(start + group, columns) {
            guard qualities.contains(quality[index]), changeNumber[index] <= newest else { continue }
            active[index] = true
            left -= 1
            budget -= cost(quality[index], Double(weight[index]) / 255)
          }
        }
      }
    }
  }

  /// Records that the active blocks were coded with `quantizer`.
  mutating func recordCoded(quantizer: UInt8) {
    for index in active.indices where active[index] {
      quality[index] = quantizer
      shown[index] = quantizer
    }
  }

  /// Records which of the active blocks are not as sharp as their quantiser should have made them.
  mutating func findImperfect(_ isBlurred: (Int) -> Bool) {
    for index in active.indices where active[index] && isBlurred(index) {
      quality[index] = Self.imperfect
      shown[index] = Self.imperfect
    }
  }

  /// Records that a block was touched by what was coded with `quantizer` beside it.
  mutating func recordTouched(_ index: Int, quantizer: UInt8) {
    guard shown[index] != Self.imperfect else { return }
    // The next step of what moves beside it would do the same again: it is refined as what moves is.
    if quantizer > shown[index] { changeNumber[index] = lastChangeNumber }
    shown[index] = max(shown[index], quantizer)
    if quality[index] != Self.changed { quality[index] = shown[index] }
  }

  /// The weight of the pixels that viewers have, by their quality, in units of a fully detailed block. Blocks that
  /// viewers never had count as `changed`.
  func shownWeights() -> [Double] {
    var sums = [Int](repeating: 0, count: 256)
    for index in shown.indices { sums[Int(shown[index])] += Int(weight[index]) }
    return sums.map { Double($0) / 255 }
  }

  /// The blocks that were not coded since they changed.
  var changedBlocks: [Int] { quality.indices.filter { quality[$0] == Self.changed } }

  /// The quality of the pixels that a scroll brings to a block; nil where they lie outside the picture.
  private func shownQuality(_ index: Int, after scroll: Int) -> UInt8? {
    let (row, column) = (index / columns, index % columns)
    let upper = (row * 16 + scroll) >> 4
    let lower = (row * 16 + 15 + scroll) >> 4
    guard upper >= 0, lower < rows else { return nil }
    return max(shown[upper * columns + column], shown[lower * columns + column])
  }

  /// The weight of the changes that are not among `moved`, in units of a fully detailed block.
  func weight(without moved: [Int]) -> Double {
    changedExtent.weight - Double(moved.reduce(0) { $0 + Int(weight[$1]) }) / 255
  }

  /// Records that viewers will see `moved` as well as what was `scroll` rows below.
  mutating func recordMoved(_ moved: [Int], by scroll: Int) {
    let qualities = moved.map { shownQuality($0, after: scroll) ?? Self.coarsest }
    for (index, value) in zip(moved, qualities) {
      quality[index] = value
      shown[index] = value
    }
  }

  /// Makes blocks that did not change and are coarser than `limit` active as well, from the top, as long as their `cost`
  /// sums up to less than `bytes`; returns the sum.
  mutating func addCoarse(above limit: Int, bytes: Double, cost: (UInt8, Double) -> Double) -> Double {
    var sum = 0.0
    for index in active.indices
    where quality[index] <= Self.coarsest && Int(quality[index]) > limit && !active[index] {
      guard sum < bytes else { break }
      active[index] = true
      sum += cost(quality[index], Double(weight[index]) / 255)
    }
    return sum
  }
}

/// The detail in a block's luma, measured on four of its lines.
struct BlockDetail {
  /// The number of neighbouring pairs of samples that are compared.
  static let pairs = 4 * 15

  /// The amount of detail, 1…255: the cost of coding the block, relative to other blocks.
  var weight: UInt8
  /// The number of neighbours that differ but little, 0…`pairs`.
  var similar: UInt8
}
