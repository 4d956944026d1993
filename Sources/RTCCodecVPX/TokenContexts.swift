/// Which blocks around have coefficients, as their writing depends on it (RFC 6386, section 13.3); and the walk through the
/// questions that a block's coefficients answer.
struct TokenContexts {
  /// For each column of macroblocks, and for the row at hand: 4 of luma, 2 of each colour, the means.
  private var above: [UInt8]
  private var left = [UInt8](repeating: 0, count: 9)

  init(columns: Int) { above = Array(repeating: 0, count: columns * 9) }

  mutating func beginRow() { left = Array(repeating: 0, count: 9) }

  /// A macroblock without coefficients.
  mutating func skip(column: Int) {
    for index in 0..<9 { (above[column * 9 + index], left[index]) = (0, 0) }
  }

  /// Answers the questions of a macroblock's coefficients in their order.
  /// - Parameter answer: called with the place of a probability of the stream (or nil) or a fixed one, and the answer.
  mutating func walk(
    _ coded: MacroblockCoder.Coded, column: Int, _ answer: (_ place: Int?, _ probability: UInt8, _ value: Bool) -> Void
  ) {
    let levels = coded.levels
    block(levels, 24, kind: 1, first: 0, column * 9 + 8, 8, answer)
    for number in 0..<16 { block(levels, number, kind: 0, first: 1, column * 9 + number % 4, number / 4, answer) }
    for number in 16..<24 {
      let plane = number < 20 ? 4 : 6
      block(levels, number, kind: 2, first: 0, column * 9 + plane + number % 2, plane + number % 4 / 2, answer)
    }
  }

  private mutating func block(
    _ levels: [Int16], _ block: Int, kind: Int, first: Int, _ upper: Int, _ side: Int,
    _ answer: (Int?, UInt8, Bool) -> Void
  ) {
    let last = (first..<16).last { levels[block * 16 + $0] != 0 }
    var context = Int(above[upper] + left[side])
    (above[upper], left[side]) = last == nil ? (0, 0) : (1, 1)
    var mayEnd = true
    for position in first..<16 {
      let place = CoefficientProbabilities.index(kind, band: Self.bands[position], context: context)
      guard let last, position <= last else { return answer(place, 0, false) }
      if mayEnd { answer(place, 0, true) }
      let level = levels[block * 16 + position]
      answer(place + 1, 0, level != 0)
      mayEnd = level != 0
      guard level != 0 else {
        context = 0
        continue
      }
      Self.size(Int(abs(level)), place, answer)
      answer(nil, 128, level < 0)
      context = abs(level) == 1 ? 1 : 2
    }
  }

  private static let bands = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7]

  /// Section 13.2.
  private static func size(_ size: Int, _ place: Int, _ answer: (Int?, UInt8, Bool) -> Void) {
    answer(place + 2, 0, size > 1)
    guard size > 1 else { return }
    answer(place + 3, 0, size > 4)
    guard size > 4 else {
      answer(place + 4, 0, size > 2)
      if size > 2 { answer(place + 5, 0, size > 3) }
      return
    }
    let category = categories.lastIndex { $0.least <= size }!
    answer(place + 6, 0, category > 1)
    if category < 2 {
      answer(place + 7, 0, category == 1)
    } else {
      answer(place + 8, 0, category > 3)
      answer(place + (category > 3 ? 10 : 9), 0, category % 2 == 1)
    }
    let (least, probabilities) = categories[category]
    for (index, probability) in probabilities.enumerated() {
      answer(nil, probability, (size - least) >> (probabilities.count - 1 - index) & 1 == 1)
    }
  }

  private static let categories: [(least: Int, probabilities: [UInt8])] = [
    (5, [159]), (7, [165, 145]), (11, [173, 148, 140]), (19, [176, 155, 140, 135]), (35, [180, 157, 141, 134, 130]),
    (67, [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129]),
  ]
}
