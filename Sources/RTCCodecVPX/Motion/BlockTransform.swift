/// VP8's transforms of 4x4 samples (RFC 6386, section 14), forth and back; a matrix is four rows.
struct BlockTransform {
  typealias Matrix = (SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>, SIMD4<Int32>)

  static func transposed(_ m: Matrix) -> Matrix {
    (
      SIMD4(m.0.x, m.1.x, m.2.x, m.3.x), SIMD4(m.0.y, m.1.y, m.2.y, m.3.y), SIMD4(m.0.z, m.1.z, m.2.z, m.3.z),
      SIMD4(m.0.w, m.1.w, m.2.w, m.3.w)
    )
  }

  // MARK: The cosine transform

  /// The coefficients of `residual`, the difference between samples and prediction.
  static func forward(_ residual: Matrix) -> Matrix {
    let eight = (residual.0 &* 8, residual.1 &* 8, residual.2 &* 8, residual.3 &* 8)
    let m = transposed(forwardColumns(transposed(forwardColumns(eight))))
    return ((m.0 &+ 8) &>> 4, (m.1 &+ 8) &>> 4, (m.2 &+ 8) &>> 4, (m.3 &+ 8) &>> 4)
  }

  private static func forwardColumns(_ m: Matrix) -> Matrix {
    let (outer, inner) = (m.0 &+ m.3, m.1 &+ m.2)
    let (outerDifference, innerDifference) = (m.0 &- m.3, m.1 &- m.2)
    // √2·cos(π/8) and √2·sin(π/8), times 4,096.
    return (
      outer &+ inner, (outerDifference &* 5352 &+ innerDifference &* 2217 &+ 2048) &>> 12, outer &- inner,
      (outerDifference &* 2217 &- innerDifference &* 5352 &+ 2048) &>> 12
    )
  }

  /// The samples that decoders compute from the coefficients, exact to the bit.
  static func inverse(_ coefficients: Matrix) -> Matrix {
    let m = transposed(inverseColumns(transposed(inverseColumns(coefficients))))
    return ((m.0 &+ 4) &>> 3, (m.1 &+ 4) &>> 3, (m.2 &+ 4) &>> 3, (m.3 &+ 4) &>> 3)
  }

  private static func inverseColumns(_ m: Matrix) -> Matrix {
    func sine(_ x: SIMD4<Int32>) -> SIMD4<Int32> { (x &* 35_468) &>> 16 }
    func cosine(_ x: SIMD4<Int32>) -> SIMD4<Int32> { x &+ ((x &* 20_091) &>> 16) }
    let (sum, difference) = (m.0 &+ m.2, m.0 &- m.2)
    let (c, d) = (sine(m.1) &- cosine(m.3), cosine(m.1) &+ sine(m.3))
    return (sum &+ d, difference &+ c, difference &- c, sum &- d)
  }

  // MARK: The Walsh-Hadamard transform, of the sixteen means of a macroblock

  static func forwardMeans(_ means: Matrix) -> Matrix {
    let m = hadamard(means)
    return ((m.0 &+ 1) &>> 1, (m.1 &+ 1) &>> 1, (m.2 &+ 1) &>> 1, (m.3 &+ 1) &>> 1)
  }

  static func inverseMeans(_ coefficients: Matrix) -> Matrix {
    let m = hadamard(coefficients)
    return ((m.0 &+ 3) &>> 3, (m.1 &+ 3) &>> 3, (m.2 &+ 3) &>> 3, (m.3 &+ 3) &>> 3)
  }

  private static func hadamard(_ m: Matrix) -> Matrix { transposed(hadamardColumns(transposed(hadamardColumns(m)))) }

  private static func hadamardColumns(_ m: Matrix) -> Matrix {
    let (a, b, c, d) = (m.0 &+ m.3, m.1 &+ m.2, m.1 &- m.2, m.0 &- m.3)
    return (a &+ b, c &+ d, a &- b, d &- c)
  }
}
