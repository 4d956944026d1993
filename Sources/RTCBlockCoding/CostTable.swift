/// What new content costs by quantiser, as measured of a codec on a page of coloured text.
package struct CostTable {
  /// Points of the cost over ascending quantisers, the first 0 and the last the coarsest, relative to one of them.
  let curve: [(quantizer: Int, cost: Double)]
  /// What a fully detailed block of 16×16 takes where the curve is 1, in bytes.
  let usual: Double

  /// At least one point is needed.
  package init(curve: [(quantizer: Int, cost: Double)], usual: Double) {
    precondition(!curve.isEmpty)
    self.curve = curve
    self.usual = usual
  }
}
