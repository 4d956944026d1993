import Glibc

/// Writes the coefficients of a frame's macroblocks, with probabilities that suit them (RFC 6386, section 13).
struct CoefficientWriter {
  private let field: MotionField
  private let coded: [Int: MacroblockCoder.Coded]
  private var probabilities = CoefficientProbabilities.standard

  init(_ field: MotionField, _ coded: [Int: MacroblockCoder.Coded]) {
    self.field = field
    self.coded = coded
    choose()
  }

  /// Says which of the stream's probabilities are others in this frame.
  func writeProbabilities(to output: inout BooleanEncoder) {
    for (place, update) in CoefficientProbabilities.updates.enumerated() {
      let isNew = probabilities[place] != CoefficientProbabilities.standard[place]
      output.write(isNew, update)
      guard isNew else { continue }
      for bit in (0..<8).reversed() { output.write(probabilities[place] >> UInt8(bit) & 1 == 1, 128) }
    }
  }

  /// All coefficients.
  func finish() -> [UInt8] {
    var output = BooleanEncoder()
    walk { place, probability, value in output.write(value, place.map { probabilities[$0] } ?? probability) }
    return output.finish()
  }

  private func walk(_ answer: (Int?, UInt8, Bool) -> Void) {
    var contexts = TokenContexts(columns: field.columns)
    for row in 0..<field.rows {
      contexts.beginRow()
      for column in 0..<field.columns {
        if let macroblock = coded[row * field.columns + column], !macroblock.isEmpty {
          contexts.walk(macroblock, column: column, answer)
        } else {
          contexts.skip(column: column)
        }
      }
    }
  }

  /// Takes other probabilities where they spare more than it costs to tell them.
  private mutating func choose() {
    var (no, yes) = ([Int](repeating: 0, count: probabilities.count), [Int](repeating: 0, count: probabilities.count))
    walk { place, _, value in
      guard let place else { return }
      if value { yes[place] += 1 } else { no[place] += 1 }
    }
    for place in probabilities.indices where no[place] + yes[place] > 0 {
      let better = UInt8(max(1, min(255, (no[place] * 256 + (no[place] + yes[place]) / 2) / (no[place] + yes[place]))))
      func bits(_ probability: UInt8) -> Double {
        Double(no[place]) * Self.cost(false, probability) + Double(yes[place]) * Self.cost(true, probability)
      }
      let update = CoefficientProbabilities.updates[place]
      let telling = 8 + Self.cost(true, update) - Self.cost(false, update)
      if bits(probabilities[place]) - bits(better) > telling { probabilities[place] = better }
    }
  }

  /// In bits.
  private static func cost(_ value: Bool, _ probability: UInt8) -> Double {
    -log2(Double(value ? 256 - Int(probability) : Int(probability)) / 256)
  }
}
