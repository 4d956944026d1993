public import RTCMedia

/// The changes in a picture: a bounded number of rectangles, merged where that adds the fewest unchanged pixels.
public struct DamageList: Sendable, Equatable {
  /// More rectangles than this are merged.
  public static let limit = 16

  /// The rectangles, none of them empty.
  public private(set) var rects: [PixelRect] = []

  /// No changes.
  public init() {}

  /// The union of `rects`.
  public init(_ rects: some Sequence<PixelRect>) {
    for rect in rects { insert(rect) }
  }

  /// True when nothing changed.
  public var isEmpty: Bool { rects.isEmpty }

  /// Forgets all rectangles.
  public mutating func removeAll() { rects.removeAll(keepingCapacity: true) }

  /// Adds `rect`, which is merged with one already there when both together waste little.
  public mutating func insert(_ rect: PixelRect) {
    guard !rect.isEmpty else { return }
    var added = rect
    while let index = rects.firstIndex(where: { Self.shouldMerge($0, added) }) {
      added = added.union(rects.remove(at: index))
    }
    rects.append(added)
    if rects.count > Self.limit { mergeCheapestPair() }
  }

  /// Adds all rectangles of `other`.
  public mutating func formUnion(_ other: DamageList) {
    for rect in other.rects { insert(rect) }
  }

  /// The parts inside `bounds`.
  public func clipped(to bounds: PixelRect) -> DamageList {
    DamageList(rects.lazy.map { $0.intersection(bounds) })
  }

  /// The rows touched, as disjoint ranges in order; ranges closer together than `gap` rows are one.
  public func rowBands(joiningGapsUpTo gap: Int) -> [Range<Int>] {
    var bands: [Range<Int>] = []
    for range in rects.map({ $0.y..<$0.maxY }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = bands.last, range.lowerBound <= last.upperBound + gap {
        bands[bands.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        bands.append(range)
      }
    }
    return bands
  }

  private static func waste(_ a: PixelRect, _ b: PixelRect) -> Int {
    a.union(b).area - a.area - b.area + a.intersection(b).area
  }

  /// 256 pixels of waste cost less than one more rectangle does downstream.
  private static func shouldMerge(_ a: PixelRect, _ b: PixelRect) -> Bool { waste(a, b) <= 256 }

  private mutating func mergeCheapestPair() {
    var best = (first: 0, second: 1, waste: Int.max)
    for first in rects.indices {
      for second in rects.indices.dropFirst(first + 1) {
        let waste = Self.waste(rects[first], rects[second])
        if waste < best.waste { best = (first, second, waste) }
      }
    }
    let second = rects.remove(at: best.second)
    let first = rects.remove(at: best.first)
    insert(first.union(second))
  }
}
