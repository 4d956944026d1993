/// Predicts what a frame will cost from the detail in it and the quantiser, and learns from what it did cost.
struct BitModel {
  /// Situations whose costs differ by more than the quantiser explains.
  enum Kind: Int, CaseIterable {
    case key
    /// A large change of unknown content.
    case fresh
    /// A large change right after another: mostly the same pixels elsewhere.
    case moving
    case small
    case refinement
    /// Any of those above, of a picture without detail.
    case blurred
  }

  /// Bytes that even an empty frame has, at 1080p.
  private static let overhead = 120.0
  /// Cost of new content by level, relative to quantiser 8; measured on pages of text.
  private static let curve: [(level: Int, cost: Double)] = [
    (0, 2.2), (4, 1.6), (8, 1), (20, 0.73), (30, 0.606), (40, 0.478), (50, 0.311), (56, 0.228), (63, 0.143),
    (64, 0.058), (65, 0.035), (66, 0.019), (67, 0.0125),
  ]
  private static let costs: [Double] = (0...CodingLevel.coarsest).map { level in
    let upper = curve.firstIndex { $0.level >= level } ?? curve.count - 1
    guard upper > 0 else { return curve[0].cost }
    let (a, b) = (curve[upper - 1], curve[upper])
    return a.cost + (b.cost - a.cost) * Double(level - a.level) / Double(b.level - a.level)
  }
  /// Bytes of a fully detailed macroblock at quantiser 8, by kind.
  private var scale: [Double] = [180, 180, 20, 150, 200, 180]

  /// What a difference of quantisers costs relative to what it costs in new content. Content that was sharp before is
  /// sharper than the quantiser that moved it last.
  private var upgrade = 1.0

  /// - Parameter level: a quantiser (0…63) or a level of `CodingLevel`.
  static func cost(_ level: Int) -> Double { costs[level] }

  /// What is blurred costs what it costs, whatever the sharp picture would have.
  private static func scaleIndex(_ kind: Kind, _ level: Int) -> Int {
    level > CodingLevel.coarsestSharp ? Kind.blurred.rawValue : kind.rawValue
  }

  func bytes(_ kind: Kind, weight: Double, quantizer: Int) -> Double {
    Self.overhead + scale[Self.scaleIndex(kind, quantizer)] * weight * Self.cost(quantizer)
  }

  /// What it costs to bring a macroblock from quantiser `from` (or from nothing) to `to`.
  func refinementBytes(weight: Double, from: UInt8, to: Int) -> Double {
    // A blurred picture spares next to nothing of the sharp one.
    let before = from > CodingLevel.coarsestSharp ? 0 : Self.cost(Int(from))
    return scale[Kind.refinement.rawValue] * weight * max(0.02, Self.cost(to) - before)
  }

  /// What it costs to show moved content at quantiser `to` when it was at `from`.
  func upgradeBytes(weight: Double, from: Int, to: Int) -> Double {
    upgrade * scale[Kind.fresh.rawValue] * weight * max(0, Self.cost(to) - Self.cost(from))
  }

  /// The finest quantiser of `range` at which the frame fits into `budget`; nil when none does.
  func quantizer(_ kind: Kind, weight: Double, budget: Double, in range: ClosedRange<Int>) -> Int? {
    range.first { bytes(kind, weight: weight, quantizer: $0) <= budget }
  }

  /// Takes the true size of a frame into account; `predicted` is what this model said of it.
  mutating func learn(_ kind: Kind, quantizer: Int, bytes: Int, predicted: Double) {
    let index = Self.scaleIndex(kind, quantizer)
    let ratio = (Double(bytes) + 1 - Self.overhead) / max(1, predicted - Self.overhead)
    let observed = scale[index] * min(8, max(0.125, ratio))
    // Dearer than thought is believed at once; cheaper only by and by.
    let trust = ratio > 1 ? 0.7 : 0.35
    scale[index] = Self.bounded(scale[index] * (1 - trust) + observed * trust)
    guard index == kind.rawValue else { return }
    switch kind {
    case .key: scale[Kind.fresh.rawValue] = scale[Kind.key.rawValue]
    case .fresh:
      // What follows is more of the same movement. The next surprise may still be all new, so `fresh` stays with
      // what key frames taught.
      scale[Kind.moving.rawValue] = Self.bounded(observed)
      scale[Kind.fresh.rawValue] = scale[Kind.key.rawValue]
    case .moving, .small, .refinement, .blurred: break
    }
  }

  /// Learns from a frame of moved content that was also made finer: `predicted` of `bytes` were for that.
  mutating func learnUpgrade(bytes: Double, predicted: Double) {
    let observed = upgrade * min(4, max(0.25, bytes / max(1, predicted)))
    upgrade = min(1.5, max(0.2, upgrade * 0.5 + observed * 0.5))
  }

  private static func bounded(_ scale: Double) -> Double { min(400, max(1, scale)) }
}
