/// The answer to one question in the writing of coefficients, with the place of its probability.
struct Token {
  /// The answer in the lowest bit; above it the place of one of the stream's probabilities, or beyond those a fixed one.
  private let bits: UInt16

  private static let firstFixed = CoefficientProbabilities.count

  /// The number of tokens with one of the stream's probabilities; they are below this number.
  static let adaptableCount = CoefficientProbabilities.count * 2
  /// The number of all possible tokens.
  static let count = (CoefficientProbabilities.count + 256) * 2

  /// - Parameter place: the place of the probability among the stream's.
  init(_ place: Int, _ value: Bool) { bits = UInt16(truncatingIfNeeded: place << 1 | (value ? 1 : 0)) }

  /// - Parameter probability: the probability of false, in 256ths.
  init(fixed probability: UInt8, _ value: Bool) { self.init(Self.firstFixed + Int(probability), value) }

  var value: Bool { bits & 1 == 1 }
  /// The place of the probability: among the stream's first, then among the 256 fixed ones.
  var place: Int { Int(bits >> 1) }
  /// A different number for each place and answer. The two answers of one place are next to each other, false first.
  var number: Int { Int(bits) }
}
