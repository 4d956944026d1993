import RTCMedia
import RTCVideoCoding

/// The state of each 16×16 macroblock: how well it was last coded, and how much detail it holds.
struct MacroblockMap {
  /// The `quality` of a macroblock whose newest pixels were not coded yet.
  static let changed: UInt8 = 255

  /// The most `weight` a macroblock of one colour has; an edge may cross it.
  private static let plainWeight: UInt8 = 12
  /// The number of neighbouring samples that are compared: four lines of sixteen samples.
  private static let mostSimilar = 4 * 15

  let size: PixelSize
  let columns: Int
  let rows: Int
  /// The quantiser (0…63) each macroblock was last coded with, or `changed`.
  private(set) var quality: [UInt8]
  /// The number of macroblocks that were not coded since they changed: `quality` is `changed` for them.
  private(set) var changedCount: Int
  /// The quality of the last coded picture that viewers have of each macroblock, whatever changed since.
  private var shown: [UInt8]
  /// The detail in each macroblock, 1…255: the cost of coding it, relative to other macroblocks.
  private(set) var weight: [UInt8]
  /// The number of neighbours in each macroblock that differ but little (`FilmDetector`), 0…`mostSimilar`.
  private var similar: [UInt8]
  /// 1 where the coming frame codes the macroblock, 0 where it keeps the pixels of the last frame.
  private(set) var active: [UInt8]
  /// The number of the change that last touched each macroblock.
  private var changeNumber: [UInt32]
  /// The number of the change that last touched the coded content of each macroblock. Movements take the number along.
  private var contentNumber: [UInt32]
  private var lastChangeNumber: UInt32 = 0
  /// Macroblocks changed after this number may change again at once and are not worth refining.
  private var refinable: UInt32 = 0
  /// The plain macroblocks that were coded finely and yet have a wrong colour.
  private var tinted: Set<Int> = []

  /// Creates a map in which all macroblocks are changed.
  init(size: PixelSize) {
    self.size = size
    columns = (size.width + 15) / 16
    rows = (size.height + 15) / 16
    quality = Array(repeating: Self.changed, count: columns * rows)
    changedCount = columns * rows
    shown = quality
    weight = Array(repeating: 64, count: columns * rows)
    similar = Array(repeating: 0, count: columns * rows)
    active = Array(repeating: 1, count: columns * rows)
    changeNumber = Array(repeating: 0, count: columns * rows)
    contentNumber = changeNumber
  }

  var count: Int { quality.count }

  /// Says that the pixels in `rects` are new; nil = all.
  mutating func markChanged(_ rects: [PixelRect]?) {
    guard rects?.isEmpty != true else { return }
    lastChangeNumber &+= 1
    for rect in rects ?? [PixelRect(size)] {
      let inside = rect.intersection(PixelRect(size))
      guard !inside.isEmpty else { continue }
      let (left, right) = (inside.x / 16, (inside.maxX - 1) / 16)
      for row in inside.y / 16...(inside.maxY - 1) / 16 {
        for index in row * columns + left...row * columns + right {
          setQuality(index, Self.changed)
          changeNumber[index] = lastChangeNumber
        }
        guard !tinted.isEmpty else { continue }
        for index in row * columns + left...row * columns + right { tinted.remove(index) }
      }
    }
  }

  /// Says what may be refined from now on: everything when the whole picture rests; otherwise what the last two changes
  /// left alone, as what they touched (a video in a page, say) will soon be new again.
  mutating func chooseRefinable(allRests: Bool) {
    refinable = allRests ? lastChangeNumber : lastChangeNumber - min(lastChangeNumber, 2)
  }

  /// True where `quality > limit` and refinement is not wasted.
  func needsRefinement(_ index: Int, above limit: Int) -> Bool {
    Int(quality[index]) > limit && changeNumber[index] <= refinable
  }

  /// Measures the detail of the changed macroblocks in the luma plane.
  mutating func weighChanged(luma: Span<UInt8>, stride: Int) {
    for row in 0..<rows {
      for column in 0..<columns where quality[row * columns + column] == Self.changed {
        let width = min(16, size.width - column * 16)
        var (activity, similar) = (0, 0)
        // Four lines of sixteen tell text from plain ground well enough.
        for line in Swift.stride(from: row * 16 + 1, to: min(row * 16 + 16, size.height), by: 4) {
          let start = line * stride + column * 16
          let detail = LineDetail(luma.extracting(start..<start + width))
          (activity, similar) = (activity + detail.activity, similar + detail.similar)
        }
        weight[row * columns + column] = UInt8(min(255, 1 + activity / 8))
        self.similar[row * columns + column] = UInt8(similar)
      }
    }
  }

  var hasTinted: Bool { !tinted.isEmpty }

  /// The number of active macroblocks.
  var activeCount: Int { active.reduce(0) { $0 + Int($1) } }

  /// How many are plain (no letters, no pictures) among the active ones.
  var hasPlainActive: Bool { active.indices.contains { isPlain($0) && active[$0] == 1 } }

  /// Looks for active plain macroblocks whose colour `isOff`, called with row and column, finds wrong.
  mutating func findTinted(_ isOff: (_ row: Int, _ column: Int) -> Bool) {
    for index in active.indices where active[index] == 1 && isPlain(index) {
      if isOff(index / columns, index % columns) { tinted.insert(index) }
    }
  }

  private func isPlain(_ index: Int) -> Bool { weight[index] <= Self.plainWeight }

  /// Makes at most `most` of the plain macroblocks with wrong colours active; returns their weight.
  mutating func selectTinted(most: Int) -> Double {
    for index in active.indices { active[index] = 0 }
    var sum = 0
    for index in tinted.sorted().prefix(most) {
      active[index] = 1
      sum += Int(weight[index])
    }
    return Double(sum) / 255
  }

  /// How many macroblocks were not coded since they changed, and their weight together in units of a fully detailed
  /// one.
  var changedExtent: (count: Int, weight: Double) {
    guard changedCount > 0 else { return (0, 0) }
    var sum = 0
    for index in quality.indices where quality[index] == Self.changed { sum &+= Int(weight[index]) }
    return (changedCount, Double(sum) / 255)
  }

  /// The share of neighbours in the changed macroblocks that differ but little, 0…1, for `FilmDetector`.
  var changedSimilarity: Double {
    var sum = 0
    for index in quality.indices where quality[index] == Self.changed { sum &+= Int(similar[index]) }
    return Double(sum) / Double(max(1, changedCount * Self.mostSimilar))
  }

  /// The smallest rectangle of whole macroblocks around the main part of what changed: the rows in which more than 60 %
  /// changed of what did in a typical one, without a clock in a corner, say. Nil when nothing changed.
  var changedBounds: PixelRect? {
    let counts = (0..<rows).map { row in
      quality[row * columns..<(row + 1) * columns].reduce(0) { $0 + ($1 == Self.changed ? 1 : 0) }
    }
    guard let typical = Self.typicalCount(counts) else { return nil }
    var (left, top, right, bottom) = (columns, rows, -1, -1)
    for row in 0..<rows where counts[row] * 5 > typical * 3 {
      (top, bottom) = (min(top, row), row)
      for column in 0..<columns where quality[row * columns + column] == Self.changed {
        (left, right) = (min(left, column), max(right, column))
      }
    }
    let bounds = PixelRect(x: left * 16, y: top * 16, width: (right + 1 - left) * 16, height: (bottom + 1 - top) * 16)
    return bounds.intersection(PixelRect(size))
  }

  /// The count of the row in which the median of the changed macroblocks is; nil if nothing changed. One full row, as of new
  /// text below lines that are alike, does not change it.
  private static func typicalCount(_ counts: [Int]) -> Int? {
    let half = (counts.reduce(0, +) + 1) / 2
    var sum = 0
    return counts.sorted().first { count in
      sum += count
      return count > 0 && sum >= half
    }
  }

  /// The weight of the refinable macroblocks by quality, in units of a fully detailed one. All that refinement asks
  /// follows from it.
  var refinableWeights: [Double] {
    var sums = [Int](repeating: 0, count: 256)
    for index in quality.indices where changeNumber[index] <= refinable {
      sums[Int(quality[index])] &+= Int(weight[index])
    }
    return sums.map { Double($0) / 255 }
  }

  /// Makes everything active.
  mutating func selectAll() {
    for index in active.indices { active[index] = 1 }
  }

  /// Makes nothing active.
  mutating func selectNone() {
    for index in active.indices { active[index] = 0 }
  }

  /// Makes the changed macroblocks active and no others.
  mutating func selectChanged() {
    for index in active.indices { active[index] = quality[index] == Self.changed ? 1 : 0 }
  }

  /// Makes refinable macroblocks with `quality > limit` active, from the top, as long as there are fewer than `most`
  /// and `cost`, called with quality and weight of each, sums up to less than `bytes`.
  mutating func select(above limit: UInt8, most: Int, bytes: Double, cost: (UInt8, Double) -> Double) {
    var left = most
    var budget = bytes
    for index in active.indices {
      guard left > 0, budget > 0, needsRefinement(index, above: Int(limit)) else {
        active[index] = 0
        continue
      }
      active[index] = 1
      left -= 1
      budget -= cost(quality[index], Double(weight[index]) / 255)
    }
  }

  /// Makes at most `most` macroblocks that did not change and have `quality > limit` active as well, from the top, as long as
  /// their `cost` sums up to less than `bytes`; returns the sum.
  mutating func addCoarse(above limit: Int, most: Int, bytes: Double, cost: (UInt8, Double) -> Double) -> Double {
    var (sum, left) = (0.0, most)
    for index in active.indices where quality[index] != Self.changed && Int(quality[index]) > limit {
      guard sum < bytes, left > 0 else { break }
      active[index] = 1
      left -= 1
      sum += cost(quality[index], Double(weight[index]) / 255)
    }
    return sum
  }

  /// Records that the active macroblocks were coded with `quantizer`.
  ///
  /// - Parameter smeared: the loop filter ran, and so changed the edges of those left of and above coded ones.
  mutating func recordCoded(quantizer: UInt8, smeared: Bool) {
    for index in active.indices where active[index] == 1 {
      setQuality(index, quantizer)
      shown[index] = quantizer
      contentNumber[index] = changeNumber[index]
      if !tinted.isEmpty { tinted.remove(index) }
      guard smeared else { continue }
      if index % columns > 0, active[index - 1] == 0 { worsen(index - 1, quantizer) }
      if index >= columns, active[index - columns] == 0 { worsen(index - columns, quantizer) }
    }
  }

  /// Records that macroblocks moved: what is the same as before has the quality of where it comes from, and may be refined
  /// as that might. What is not stays to be coded.
  ///
  /// - Parameter softened: the quality of what moved with softer colours, at best.
  mutating func recordMoved(_ field: MotionField, softened: UInt8) {
    let (lastShown, lastNumbers) = (shown, contentNumber)
    for row in 0..<rows {
      for column in 0..<columns where quality[row * columns + column] == Self.changed {
        let index = row * columns + column
        let (upper, lower) = field.sources(row, column)
        let match = field.match(row, column)
        let source = max(lastShown[upper], lastShown[lower])
        setQuality(index, match == .new ? Self.changed : match == .softened ? max(source, softened) : source)
        shown[index] = quality[index]
        guard quality[index] != Self.changed, match == .exact else { continue }
        contentNumber[index] = max(lastNumbers[upper], lastNumbers[lower])
        changeNumber[index] = contentNumber[index]
      }
    }
  }

  /// The weight of the changes that a movement leaves to be coded.
  func weight(after field: MotionField) -> Double {
    var sum = 0
    for row in 0..<rows {
      for column in 0..<columns where quality[row * columns + column] == Self.changed {
        let (upper, lower) = field.sources(row, column)
        let isNew = field.match(row, column) == .new || max(shown[upper], shown[lower]) == Self.changed
        if isNew { sum += Int(weight[row * columns + column]) }
      }
    }
    return Double(sum) / 255
  }

  /// The changed macroblocks of each row that has any: the columns from the first to the last, with those between.
  var changedSpans: [(row: Int, columns: Range<Int>)] {
    (0..<rows).compactMap { row in
      let ofRow = quality[row * columns..<(row + 1) * columns]
      guard let first = ofRow.firstIndex(of: Self.changed), let last = ofRow.lastIndex(of: Self.changed) else {
        return nil
      }
      return (row, first - row * columns..<last + 1 - row * columns)
    }
  }

  private mutating func setQuality(_ index: Int, _ new: UInt8) {
    if quality[index] == Self.changed { changedCount -= 1 }
    if new == Self.changed { changedCount += 1 }
    quality[index] = new
  }

  /// The next step of what moves beside it would do the same again: it is refined as what moves is.
  private mutating func worsen(_ index: Int, _ quantizer: UInt8) {
    setQuality(index, max(quality[index], quantizer))
    shown[index] = max(shown[index], quantizer)
    changeNumber[index] = lastChangeNumber
  }
}
