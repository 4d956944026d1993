import RTCPage
import RTCPrimitives
import Testing

@Suite struct `Sets of blocks` {
  private static let sizes = [
    PixelSize(width: 1, height: 1), PixelSize(width: 1_920, height: 1_080), PixelSize(width: 1_025, height: 17),
    PixelSize(width: 4_096, height: 64), PixelSize(width: 0, height: 0),
  ]

  @Test(arguments: sizes) func `any order of changes leaves what a set of pairs would be`(_ size: PixelSize) {
    var random = SeededGenerator(seed: 7)
    var set = BlockSet(size)
    var model: Set<[Int]> = []
    for _ in 0..<200 {
      let rect = BlockRect(
        column: Int.random(in: -3...max(1, set.columns), using: &random),
        row: Int.random(in: -3...max(1, set.rows), using: &random), width: Int.random(in: 0...80, using: &random),
        height: Int.random(in: 0...9, using: &random))
      let blocks = Self.blocks(rect, set)
      if Bool.random(using: &random) {
        set.insert(rect)
        model.formUnion(blocks)
      } else {
        set.remove(rect)
        model.subtract(blocks)
      }
      #expect(set.count == model.count)
      #expect(set.isEmpty == model.isEmpty)
      for limit in [1, 10_000] {
        var covered: Set<[Int]> = []
        for rect in set.rects(limit: limit) { covered.formUnion(Self.blocks(rect, set)) }
        #expect(limit == 1 ? covered.isSuperset(of: model) : covered == model)
      }
      #expect(Self.bounds(model) == set.bounds(in: set.whole))
      #expect(Self.bounds(Set(Self.blocks(set.whole, set)).subtracting(model)) == set.missing(in: set.whole))
    }
  }

  private static func blocks(_ rect: BlockRect, _ set: BlockSet) -> [[Int]] {
    (rect.row..<rect.endRow).flatMap { row in (rect.column..<rect.endColumn).map { [$0, row] } }
      .filter { $0[0] >= 0 && $0[1] >= 0 && $0[0] < set.columns && $0[1] < set.rows }
  }

  private static func bounds(_ blocks: Set<[Int]>) -> BlockRect? {
    guard let left = blocks.map({ $0[0] }).min(), let right = blocks.map({ $0[0] }).max(),
      let top = blocks.map({ $0[1] }).min(), let bottom = blocks.map({ $0[1] }).max()
    else { return nil }
    return BlockRect(column: left, row: top, width: right - left + 1, height: bottom - top + 1)
  }

  @Test func `the last blocks are cut off where the picture ends`() {
    let size = PixelSize(width: 1_000, height: 50)
    #expect(BlockSet(size).whole.pixels(in: size) == PixelRect(size))
  }
}
