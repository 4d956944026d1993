/// Counts values by class, with decreasing weight of older values.
struct ForgettingHistogram: Sendable {
  private var weights: [Double]
  private var total = 0.0
  /// The weight of the next value. It grows, instead of all others shrinking each time.
  private var unit = 1.0
  private let growth: Double

  /// - Parameters:
  ///   - classes: how many, at least 1.
  ///   - memory: after so many values, above 1, one counts a third of a new one.
  init(classes: Int, memory: Double) {
    weights = Array(repeating: 0, count: max(1, classes))
    growth = 1 / (1 - 1 / max(2, memory))
  }

  var isEmpty: Bool { total == 0 }

  /// Counts one value; one outside of the classes counts for the nearest.
  mutating func add(_ index: Int) {
    weights[max(0, min(weights.count - 1, index))] += unit
    total += unit
    unit *= growth
    if unit > 1e12 { normalize() }
  }

  /// The lowest class with at least `share` (0…1) of all values in it or below; 0 when nothing was counted.
  func quantile(_ share: Double) -> Int {
    guard !isEmpty else { return 0 }
    let above = (1 - share) * total
    var sum = 0.0
    for index in weights.indices.reversed() {
      sum += weights[index]
      if sum > above { return index }
    }
    return 0
  }

  /// Moves all counts by `count` classes, up or down; counts beyond the ends stay in the last or first.
  mutating func shift(by count: Int) {
    guard count != 0 else { return }
    var moved = [Double](repeating: 0, count: weights.count)
    let reach = weights.count
    let step = max(-reach, min(reach, count))
    for (index, weight) in weights.enumerated() where weight > 0 {
      moved[max(0, min(reach - 1, index + step))] += weight
    }
    weights = moved
  }

  private mutating func normalize() {
    for index in weights.indices { weights[index] /= unit }
    total = weights.reduce(0, +)
    unit = 1
  }
}
