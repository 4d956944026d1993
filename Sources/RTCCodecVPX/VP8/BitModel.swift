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

  /// Cost of new content by level, relative to quantiser 8.
  struct Curve {
    /// By level.
    let costs: [Double]

    private init(_ points: [(level: Int, cost: Double)]) {
      costs = (0...CodingLevel.coarsest).map { level in
        guard let upper = points.firstIndex(where: { $0.level >= level }) else { return points.last!.cost }
        guard upper > 0 else { return points[0].cost }
        let (a, b) = (points[upper - 1], points[upper])
        return a.cost + (b.cost - a.cost) * Double(level - a.level) / Double(b.level - a.level)
      }
    }

    /// Measured on pages of text.
    static let vp8 = Curve([
      (0, 2.2), (4, 1.6), (8, 1), (20, 0.73), (30, 0.606), (40, 0.478), (50, 0.311), (56, 0.228), (63, 0.143),
      (64, 0.058), (65, 0.035), (66, 0.019), (67, 0.0125),
    ])
  }

  private let costs: [Double]
  /// Bytes of a fully detailed macroblock at quantiser 8, by kind.
  private var scale: [Double] = [180, 180, 20, 150, 200, 180]

  /// The cost of a difference of quantisers in moved content, relative to its cost in new content. Content that was
  /// sharp before is sharper than the quantiser of its last movement.
  private var upgrade = 1.0

  init(_ curve: Curve = .vp8) { costs = curve.costs }

  /// The cost of new content at a level, relative to quantiser 8.
  ///
  /// - Parameter level: a quantiser (0…63) or a level of `CodingLevel`.
  func cost(_ level: Int) -> Double { costs[level] }

  /// The index in `scale`. Blurred pictures have a scale of their own, as their cost does not depend on that of the
  /// sharp picture.
  private static func scaleIndex(_ kind: Kind, _ level: Int) -> Int {
    level > CodingLevel.coarsestSharp ? Kind.blurred.rawValue : kind.rawValue
  }

  func bytes(_ kind: Kind, weight: Double, quantizer: Int) -> Double {
    Self.overhead + scale[Self.scaleIndex(kind, quantizer)] * weight * cost(quantizer)
  }

  /// The bytes that it takes to bring a macroblock from quantiser `from` (or from nothing) to `to`.
  func refinementBytes(weight: Double, from: UInt8, to: Int) -> Double {
    // A blurred picture spares next to nothing of the sharp one.
    let before = from > CodingLevel.coarsestSharp ? 0 : cost(Int(from))
    return scale[Kind.refinement.rawValue] * weight * max(0.02, cost(to) - before)
  }

  /// The bytes that it takes to show moved content at quantiser `to` when it was at `from`.
  func upgradeBytes(weight: Double, from: Int, to: Int) -> Double {
    upgrade * scale[Kind.fresh.rawValue] * weight * max(0, cost(to) - cost(from))
  }

  /// The finest quantiser of `range` at which the frame fits into `budget`; nil when none does.
  func quantizer(_ kind: Kind, weight: Double, budget: Double, in range: ClosedRange<Int>) -> Int? {
    range.first { bytes(kind, weight: weight, quantizer: $0) <= budget }
  }

  /// Learns from the true size of a frame; `predicted` is the size that this model predicted.
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

  /// Learns from a frame of moved content that was also made finer: `predicted` of the frame's bytes were for that.
  mutating func learnUpgrade(bytes: Double, predicted: Double) {
    let observed = upgrade * min(4, max(0.25, bytes / max(1, predicted)))
    upgrade = min(1.5, max(0.2, upgrade * 0.5 + observed * 0.5))
  }

  private static func bounded(_ scale: Double) -> Double { min(400, max(1, scale)) }
}

/// How coarsely a picture is coded, on one scale: libvpx's quantiser (0 finest … 63), and above it the coarsest
/// quantiser for a picture that lost detail before (64: half the resolution … 67: a sixteenth).
///
/// At the coarsest quantiser a 1080p page of text still takes 50–110 kB in VP8, 0.7–1.5 s of a link of 600 kbit/s.
/// Without its detail it takes 6–45 kB, and spares nothing of what the sharp picture takes later, but costs it nothing
/// either: blurred by 8 and then at quantiser 50 it takes the same in all as at quantiser 50 at once (measured, four
/// pages).
enum CodingLevel {
  /// The coarsest level of a picture with all its detail.
  static let coarsestSharp = 63
  /// The coarsest level: a sixteenth of the resolution.
  static let coarsest = 67

  /// The quantiser that libvpx gets.
  static func quantizer(_ level: Int) -> Int { min(level, coarsestSharp) }

  /// The factor by which the picture is scaled down and up again before coding; 1 means not at all.
  static func reduction(_ level: Int) -> Int { 1 << max(0, level - coarsestSharp) }
}
