/// The blocks around that have coefficients, as the writing of a block depends on them (RFC 6386, section 13.3); and
/// the walk through the questions that a block's coefficients answer.
struct TokenContexts {
  /// For each column of macroblocks, and for the current row, a bit for each block that has coefficients: 4 of luma, 2
  /// of each colour, the means.
  private var above: [UInt16]
  private var left: UInt16 = 0

  init(columns: Int) { above = Array(repeating: 0, count: columns) }

  mutating func beginRow() { left = 0 }

  /// Records a macroblock without coefficients.
  mutating func skip(column: Int) { (above[column], left) = (0, 0) }

  /// Answers the questions of a macroblock's coefficients in their order.
  /// - Parameters:
  ///   - levels: the macroblock's own.
  ///   - answers: where they are added.
  mutating func walk(_ levels: Span<Int16>, column: Int, into answers: inout [Token]) {
    var upper = above[column]
    block(levels, 24, kind: 1, first: 0, 8, 8, &upper, &answers)
    for number in 0..<16 { block(levels, number, kind: 0, first: 1, number % 4, number / 4, &upper, &answers) }
    for number in 16..<24 {
      let plane = number < 20 ? 4 : 6
      block(levels, number, kind: 2, first: 0, plane + number % 2, plane + number % 4 / 2, &upper, &answers)
    }
    above[column] = upper
  }

  /// - Parameters:
  ///   - top: the block's bit in `upper`, the bits of the macroblock above.
  ///   - side: the block's bit in `left`.
  private mutating func block(
    _ levels: Span<Int16>, _ block: Int, kind: Int, first: Int, _ top: Int, _ side: Int, _ upper: inout UInt16,
    _ answers: inout [Token]
  ) {
    let levels = levels.extracting(block * 16..<block * 16 + 16)
    var end = 16
    while end > first, levels[end - 1] == 0 { end -= 1 }
    var context = Int(upper >> UInt16(top) & 1 + left >> UInt16(side) & 1)
    let bit: UInt16 = end > first ? 1 : 0
    upper = upper & ~(1 << UInt16(top)) | bit << UInt16(top)
    left = left & ~(1 << UInt16(side)) | bit << UInt16(side)
    var mayEnd = true
    for position in first..<16 {
      let place = CoefficientProbabilities.index(kind, band: Self.band(position), context: context)
      guard position < end else { return answers.append(Token(place, false)) }
      if mayEnd { answers.append(Token(place, true)) }
      let level = Int(levels[position])
      answers.append(Token(place + 1, level != 0))
      mayEnd = level != 0
      guard level != 0 else {
        context = 0
        continue
      }
      Self.size(abs(level), place, &answers)
      answers.append(Token(fixed: 128, level < 0))
      context = abs(level) == 1 ? 1 : 2
    }
  }

  /// The band of a position: 0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7.
  private static func band(_ position: Int) -> Int { Int(0x7666_6666_6546_3210 as UInt64 >> UInt64(position * 4) & 15) }

  /// Answers the questions about the size of a coefficient (section 13.2).
  private static func size(_ size: Int, _ place: Int, _ answers: inout [Token]) {
    answers.append(Token(place + 2, size > 1))
    guard size > 1 else { return }
    answers.append(Token(place + 3, size > 4))
    guard size > 4 else {
      answers.append(Token(place + 4, size > 2))
      if size > 2 { answers.append(Token(place + 5, size > 3)) }
      return
    }
    let category = categories.lastIndex { $0.least <= size }!
    answers.append(Token(place + 6, category > 1))
    if category < 2 {
      answers.append(Token(place + 7, category == 1))
    } else {
      answers.append(Token(place + 8, category > 3))
      answers.append(Token(place + (category > 3 ? 10 : 9), category % 2 == 1))
    }
    let (least, probabilities) = categories[category]
    for (index, probability) in probabilities.enumerated() {
      answers.append(Token(fixed: probability, (size - least) >> (probabilities.count - 1 - index) & 1 == 1))
    }
  }

  private static let categories: [(least: Int, probabilities: [UInt8])] = [
    (5, [159]), (7, [165, 145]), (11, [173, 148, 140]), (19, [176, 155, 140, 135]), (35, [180, 157, 141, 134, 130]),
    (67, [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129]),
  ]
}

/// The answer to one question in the writing of coefficients, with the place of its probability.
struct Token {
  /// The answer in the lowest bit; above it the place of one of the stream's probabilities, or beyond those a fixed one.
  private let bits: UInt16

  private static let firstFixed = CoefficientProbabilities.count

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
