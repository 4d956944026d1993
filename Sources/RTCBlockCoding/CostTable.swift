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
