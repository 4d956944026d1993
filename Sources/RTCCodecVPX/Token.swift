/// The answer to one question of how coefficients are written, and what tells its probability.
struct Token {
  /// The answer in the lowest bit; above it the place of one of the stream's probabilities, or beyond those a fixed one.
  private let bits: UInt16

  private static let firstFixed = CoefficientProbabilities.count

  /// Tokens that ask for one of the stream's probabilities are below this.
  static let adaptableCount = CoefficientProbabilities.count * 2
  /// As many as there can be.
  static let count = (CoefficientProbabilities.count + 256) * 2

  /// - Parameter place: of the probability, among the stream's.
  init(_ place: Int, _ value: Bool) { bits = UInt16(truncatingIfNeeded: place << 1 | (value ? 1 : 0)) }

  /// - Parameter probability: of false, in 256ths.
  init(fixed probability: UInt8, _ value: Bool) { self.init(Self.firstFixed + Int(probability), value) }

  var value: Bool { bits & 1 == 1 }
  /// Of the stream's probabilities, and after them all that there are.
  var place: Int { Int(bits >> 1) }
  /// A different number for each place and answer: those of one place beside each other, false first.
  var number: Int { Int(bits) }
}
