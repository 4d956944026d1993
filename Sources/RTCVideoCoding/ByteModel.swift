/// Predicts what a frame will cost from the detail in it and the quantiser, and learns from what it did cost.
struct ByteModel {
  /// Situations whose costs differ by more than the quantiser explains.
  enum Kind: Int {
    case key
    /// A large change of unknown content.
    case fresh
    /// A large change right after another: mostly the same pixels elsewhere.
    case moving
    case small
    /// New content at the edge of a scroll.
    case revealed
    case refinement
  }

  /// The bytes that even an empty frame has, at 1080p.
  private static let overhead = 40.0
  /// The cost of new content by quantiser.
  private let costs: [Double]
  /// The bytes of a fully detailed block where the curve is 1, by kind.
  private var scale: [Double]
  /// The initial value of `scale`. Learning keeps the values within 1…three times this number.
  private let usual: Double

  init(_ table: CostTable) {
    costs = (0...63).map { quantizer in
      guard let upper = table.curve.firstIndex(where: { $0.quantizer >= quantizer }) else {
        return table.curve.last!.cost
      }
      guard upper > 0 else { return table.curve[0].cost }
      let (a, b) = (table.curve[upper - 1], table.curve[upper])
      return a.cost + (b.cost - a.cost) * Double(quantizer - a.quantizer) / Double(b.quantizer - a.quantizer)
    }
    usual = table.usual
    scale = [usual, usual, usual / 8, usual, usual, usual * 1.15]
  }

  func bytes(_ kind: Kind, weight: Double, quantizer: Int) -> Double {
    Self.overhead + scale[kind.rawValue] * weight * costs[quantizer]
  }

  /// The bytes that it takes to bring blocks from quantiser `from` (or from nothing) to `to`.
  func refinementBytes(weight: Double, from: UInt8, to: Int) -> Double {
    guard from != BlockMap.imperfect else { return scale[Kind.refinement.rawValue] * weight * 0.2 }
    let before = from > 63 ? 0 : costs[Int(from)]
    return scale[Kind.refinement.rawValue] * weight * max(0.02, costs[to] - before)
  }

  /// The finest quantiser of `range` at which the frame fits into `budget`; nil when none does.
  func quantizer(_ kind: Kind, weight: Double, budget: Double, in range: ClosedRange<Int>) -> Int? {
    range.first { bytes(kind, weight: weight, quantizer: $0) <= budget }
  }

  /// Takes the true size of a frame into account; `predicted` is what this model said of it.
  mutating func learn(_ kind: Kind, bytes: Int, predicted: Double) {
    guard predicted > Self.overhead * 2 else { return }
    let ratio = max(1, Double(bytes) - Self.overhead) / (predicted - Self.overhead)
    let observed = scale[kind.rawValue] * min(8, max(0.125, ratio))
    // Dearer than thought is believed at once; cheaper only by and by.
    let trust = ratio > 1 ? 0.7 : 0.35
    scale[kind.rawValue] = bounded(scale[kind.rawValue] * (1 - trust) + observed * trust)
    switch kind {
    case .key: scale[Kind.fresh.rawValue] = scale[Kind.key.rawValue]
    case .fresh:
      // What follows is more of the same movement. The next surprise may still be all new, so `fresh` stays with what key
      // frames taught.
      scale[Kind.moving.rawValue] = bounded(observed / 2)
      scale[Kind.fresh.rawValue] = scale[Kind.key.rawValue]
    case .moving, .small, .revealed, .refinement: break
    }
  }

  private func bounded(_ scale: Double) -> Double { min(usual * 3, max(1, scale)) }
}

/// The cost of new content by quantiser, as measured for a codec on a page of coloured text.
package struct CostTable {
  /// The points of the cost over ascending quantisers, the first 0 and the last the coarsest, relative to one of them.
  let curve: [(quantizer: Int, cost: Double)]
  /// The bytes of a fully detailed block of 16×16 where the curve is 1.
  let usual: Double

  /// Creates a table; at least one point is needed.
  package init(curve: [(quantizer: Int, cost: Double)], usual: Double) {
    precondition(!curve.isEmpty)
    self.curve = curve
    self.usual = usual
  }
}
