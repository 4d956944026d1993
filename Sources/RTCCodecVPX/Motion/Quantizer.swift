/// Rounds a block's coefficients to steps, and down rather than up, as small ones cost more than they show.
struct Quantizer {
  /// The rounding of the first line of coefficients, which begins with the mean; and below, of the other lines.
  private let first: Line
  private let rest: Line

  /// - Parameter steps: 4…2,047.
  init(_ steps: (dc: Int32, ac: Int32)) {
    first = Line(step: SIMD4(steps.dc, steps.ac, steps.ac, steps.ac))
    rest = Line(step: SIMD4(repeating: steps.ac))
  }

  /// Writes the levels of `matrix` into `coded`, and replaces `matrix` by the coefficients that they stand for.
  func quantise(_ matrix: inout BlockTransform.Matrix, into coded: inout MacroblockCoder.Coded, block: Int) {
    guard Self.hasAny(matrix) else { return }
    let (a, b, c, d) = (first.levels(matrix.0), rest.levels(matrix.1), rest.levels(matrix.2), rest.levels(matrix.3))
    let levels = (a, b, c, d)
    guard Self.hasAny(levels) else {
      matrix = levels
      return
    }
    matrix = (a &* first.step, b &* rest.step, c &* rest.step, d &* rest.step)
    coded.isEmpty = false
    // Section 14.3 of RFC 6386: the order they are written in.
    let start = block * 16
    coded.levels[start] = Int16(truncatingIfNeeded: a[0])
    coded.levels[start + 1] = Int16(truncatingIfNeeded: a[1])
    coded.levels[start + 2] = Int16(truncatingIfNeeded: b[0])
    coded.levels[start + 3] = Int16(truncatingIfNeeded: c[0])
    coded.levels[start + 4] = Int16(truncatingIfNeeded: b[1])
    coded.levels[start + 5] = Int16(truncatingIfNeeded: a[2])
    coded.levels[start + 6] = Int16(truncatingIfNeeded: a[3])
    coded.levels[start + 7] = Int16(truncatingIfNeeded: b[2])
    coded.levels[start + 8] = Int16(truncatingIfNeeded: c[1])
    coded.levels[start + 9] = Int16(truncatingIfNeeded: d[0])
    coded.levels[start + 10] = Int16(truncatingIfNeeded: d[1])
    coded.levels[start + 11] = Int16(truncatingIfNeeded: c[2])
    coded.levels[start + 12] = Int16(truncatingIfNeeded: b[3])
    coded.levels[start + 13] = Int16(truncatingIfNeeded: c[3])
    coded.levels[start + 14] = Int16(truncatingIfNeeded: d[2])
    coded.levels[start + 15] = Int16(truncatingIfNeeded: d[3])
  }

  /// True when one is not 0.
  static func hasAny(_ matrix: BlockTransform.Matrix) -> Bool {
    let all = matrix.0 | matrix.1 | matrix.2 | matrix.3
    return all.x | all.y | all.z | all.w != 0
  }

  static func magnitude(_ value: SIMD4<Int32>) -> SIMD4<Int32> {
    let sign = value &>> 31
    return (value ^ sign) &- sign
  }

  /// The rounding of four coefficients.
  private struct Line {
    let step: SIMD4<Int32>
    /// The number that is added before a quotient is rounded down.
    private let rounding: SIMD4<Int32>
    /// 2³² divided by each step, rounded up: products with numbers below 2²⁰ have the quotient in their high half.
    private let reciprocal: SIMD4<UInt32>

    init(step: SIMD4<Int32>) {
      self.step = step
      rounding = SIMD4(step.x * 3 / 8, step.y * 3 / 8, step.z * 3 / 8, step.w * 3 / 8)
      func reciprocal(_ step: Int32) -> UInt32 { UInt32(((1 << 32) + UInt64(step) - 1) / UInt64(step)) }
      self.reciprocal = SIMD4(reciprocal(step.x), reciprocal(step.y), reciprocal(step.z), reciprocal(step.w))
    }

    @inline(__always)
    func levels(_ values: SIMD4<Int32>) -> SIMD4<Int32> {
      let sums = SIMD4<UInt32>(truncatingIfNeeded: Quantizer.magnitude(values) &+ rounding)
      func quotient(_ index: Int) -> Int32 {
        Int32(truncatingIfNeeded: (UInt64(sums[index]) &* UInt64(reciprocal[index])) >> 32)
      }
      let level = SIMD4(
        min(2_047, quotient(0)), min(2_047, quotient(1)), min(2_047, quotient(2)), min(2_047, quotient(3)))
      let sign = values &>> 31
      return (level ^ sign) &- sign
    }
  }
}
