import Glibc

/// Writes the coefficients of a frame's macroblocks, with probabilities that suit them (RFC 6386, section 13).
struct CoefficientWriter {
  private let tokens: [Token]
  private var probabilities = CoefficientProbabilities.standard

  init(_ field: MotionField, _ coded: CodedMacroblocks) {
    tokens = Self.tokens(field, coded)
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
    let probabilities = self.probabilities + (0...255)
    for token in tokens { output.write(token.value, probabilities[token.place]) }
    return output.finish()
  }

  private static func tokens(_ field: MotionField, _ coded: CodedMacroblocks) -> [Token] {
    var tokens: [Token] = []
    // About as many as there are for text.
    tokens.reserveCapacity(coded.count * 300)
    var contexts = TokenContexts(columns: field.columns)
    let levels = coded.levels
    for row in 0..<field.rows {
      contexts.beginRow()
      for column in 0..<field.columns {
        if let first = coded.firstLevel(row * field.columns + column) {
          contexts.walk(
            levels.span.extracting(first..<first + CodedMacroblocks.levelCount), column: column, into: &tokens)
        } else {
          contexts.skip(column: column)
        }
      }
    }
    return tokens
  }

  /// Takes other probabilities where they spare more than it costs to tell them.
  private mutating func choose() {
    var counts = [Int](repeating: 0, count: Token.count)
    for token in tokens { counts[token.number] += 1 }
    for place in probabilities.indices {
      let (no, yes) = (counts[Token(place, false).number], counts[Token(place, true).number])
      guard no + yes > 0 else { continue }
      let better = UInt8(max(1, min(255, (no * 256 + (no + yes) / 2) / (no + yes))))
      func bits(_ probability: UInt8) -> Double {
        Double(no) * Self.cost(false, probability) + Double(yes) * Self.cost(true, probability)
      }
      let update = CoefficientProbabilities.updates[place]
      let telling = 8 + Self.cost(true, update) - Self.cost(false, update)
      if bits(probabilities[place]) - bits(better) > telling { probabilities[place] = better }
    }
  }

  /// The cost of writing `value`, in bits.
  private static func cost(_ value: Bool, _ probability: UInt8) -> Double {
    costs[value ? 256 - Int(probability) : Int(probability)]
  }

  /// The cost of an answer by its probability in 256ths, in bits.
  private static let costs = (0...256).map { -log2(Double($0) / 256) }
}
