/// Codes macroblocks that are not as they were, each after those left of and above it: predicts, transforms, quantises, and
/// makes in the reference picture what decoders will.
struct MacroblockCoder {
  /// A macroblock as it is written.
  struct Coded {
    /// Nil: from the last frame, by its vector.
    var intra: (luma: IntraMode, colour: IntraMode)?
    /// Of 25 blocks (16 of luma, 4 of each colour, the means of luma) 16 quantised coefficients each, in the order they are
    /// written.
    var levels = [Int16](repeating: 0, count: 400)
    var isEmpty: Bool { !levels.contains { $0 != 0 } }
  }

  /// How a macroblock is predicted from those left of and above it.
  enum IntraMode: Int, CaseIterable {
    case dc
    case vertical
    case horizontal
    case trueMotion
  }

  private let source: SourcePicture
  private let target: ReferencePicture
  private let steps: QuantizerSteps

  /// So much better (in the sum of differences) must a prediction within the frame be.
  private static let intraCost: Int32 = 128
  /// Of blocks.
  static let zigzag = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15]

  /// - Parameter target: has the prediction from the last frame.
  init(_ source: SourcePicture, into target: ReferencePicture, steps: QuantizerSteps) {
    self.source = source
    self.target = target
    self.steps = steps
  }

  func code(row: Int, column: Int) -> Coded {
    var coded = Coded()
    if row > 0, column > 0, let luma = bestMode(0, row, column, otherwise: Self.intraCost) {
      let colour = bestMode(1, row, column, otherwise: nil) ?? .dc
      for index in 0..<3 { predict(index, index == 0 ? luma : colour, row, column) }
      coded.intra = (luma, colour)
    }
    codeLuma(row, column, &coded)
    for index in 1...2 { codeColour(index, row, column, &coded) }
    return coded
  }

  // MARK: Prediction (RFC 6386, section 12)

  /// The mode of the least difference; nil when what lies in the target already is as good.
  private func bestMode(_ index: Int, _ row: Int, _ column: Int, otherwise cost: Int32?) -> IntraMode? {
    var best: (mode: IntraMode?, difference: Int32) = (
      nil, cost.map { difference(index, row, column, nil) - $0 } ?? .max
    )
    for mode in IntraMode.allCases {
      let difference = difference(index, row, column, mode)
      if difference < best.difference { best = (mode, difference) }
    }
    return best.mode
  }

  private func difference(_ index: Int, _ row: Int, _ column: Int, _ mode: IntraMode?) -> Int32 {
    let side = index == 0 ? 16 : 8
    let mean = mode == .dc ? mean(index, row, column) : 0
    var sum = SIMD4<Int32>()
    for y in stride(from: row * side, to: (row + 1) * side, by: 4) {
      for x in stride(from: column * side, to: (column + 1) * side, by: 4) {
        let prediction =
          mode.map { block(index, $0, x: x, y: y, column * side, row * side, mean: mean) }
          ?? target.block(index, x: x, y: y)
        let samples = source.block(index, x: x, y: y)
        sum &+= Self.magnitude(samples.0 &- prediction.0) &+ Self.magnitude(samples.1 &- prediction.1)
        sum &+= Self.magnitude(samples.2 &- prediction.2) &+ Self.magnitude(samples.3 &- prediction.3)
      }
    }
    return sum.wrappedSum()
  }

  private static func magnitude(_ value: SIMD4<Int32>) -> SIMD4<Int32> {
    value.replacing(with: 0 &- value, where: value .< 0)
  }

  private func predict(_ index: Int, _ mode: IntraMode, _ row: Int, _ column: Int) {
    let side = index == 0 ? 16 : 8
    let mean = mode == .dc ? mean(index, row, column) : 0
    // All of it, before any is written.
    var blocks: [(x: Int, y: Int, samples: BlockTransform.Matrix)] = []
    for y in stride(from: row * side, to: (row + 1) * side, by: 4) {
      for x in stride(from: column * side, to: (column + 1) * side, by: 4) {
        blocks.append((x, y, block(index, mode, x: x, y: y, column * side, row * side, mean: mean)))
      }
    }
    for block in blocks { target.setBlock(index, x: block.x, y: block.y, block.samples) }
  }

  /// Of the samples around a macroblock.
  private func mean(_ index: Int, _ row: Int, _ column: Int) -> Int32 {
    let side = index == 0 ? 16 : 8
    var sum: Int32 = 0
    for offset in 0..<side {
      sum += target.sample(index, x: column * side + offset, y: row * side - 1)
      sum += target.sample(index, x: column * side - 1, y: row * side + offset)
    }
    return (sum + Int32(side)) / Int32(2 * side)
  }

  /// What four by four samples of the macroblock that begins at `left` and `top` are predicted to be.
  private func block(
    _ index: Int, _ mode: IntraMode, x: Int, y: Int, _ left: Int, _ top: Int, mean: Int32
  ) -> BlockTransform.Matrix {
    func above() -> SIMD4<Int32> {
      let y = top - 1
      return SIMD4(
        target.sample(index, x: x, y: y), target.sample(index, x: x + 1, y: y), target.sample(index, x: x + 2, y: y),
        target.sample(index, x: x + 3, y: y))
    }
    func beside(_ line: Int) -> SIMD4<Int32> { SIMD4(repeating: target.sample(index, x: left - 1, y: y + line)) }
    switch mode {
    case .dc:
      let all = SIMD4(repeating: mean)
      return (all, all, all, all)
    case .vertical:
      let all = above()
      return (all, all, all, all)
    case .horizontal: return (beside(0), beside(1), beside(2), beside(3))
    case .trueMotion:
      let slope = above() &- SIMD4(repeating: target.sample(index, x: left - 1, y: top - 1))
      func line(_ offset: Int) -> SIMD4<Int32> {
        (beside(offset) &+ slope).clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
      }
      return (line(0), line(1), line(2), line(3))
    }
  }

  // MARK: What is left of it

  private func codeLuma(_ row: Int, _ column: Int, _ coded: inout Coded) {
    var coefficients: [BlockTransform.Matrix] = []
    for number in 0..<16 {
      coefficients.append(transform(0, x: column * 16 + number % 4 * 4, y: row * 16 + number / 4 * 4))
    }
    var means = BlockTransform.forwardMeans(
      (0..<4).map { row in
        SIMD4(
          coefficients[row * 4].0.x, coefficients[row * 4 + 1].0.x, coefficients[row * 4 + 2].0.x,
          coefficients[row * 4 + 3].0.x)
      }.matrix)
    quantise(&means, steps.means, first: 0, into: &coded, block: 24)
    let restored = BlockTransform.inverseMeans(means)
    for number in 0..<16 {
      quantise(&coefficients[number], steps.luma, first: 1, into: &coded, block: number)
      coefficients[number].0.x = [restored.0, restored.1, restored.2, restored.3][number / 4][number % 4]
      restore(0, x: column * 16 + number % 4 * 4, y: row * 16 + number / 4 * 4, coefficients[number])
    }
  }

  private func codeColour(_ index: Int, _ row: Int, _ column: Int, _ coded: inout Coded) {
    for number in 0..<4 {
      let (x, y) = (column * 8 + number % 2 * 4, row * 8 + number / 2 * 4)
      var coefficients = transform(index, x: x, y: y)
      quantise(&coefficients, steps.colour, first: 0, into: &coded, block: 12 + index * 4 + number)
      restore(index, x: x, y: y, coefficients)
    }
  }

  private func transform(_ index: Int, x: Int, y: Int) -> BlockTransform.Matrix {
    let (samples, prediction) = (source.block(index, x: x, y: y), target.block(index, x: x, y: y))
    return BlockTransform.forward(
      (samples.0 &- prediction.0, samples.1 &- prediction.1, samples.2 &- prediction.2, samples.3 &- prediction.3))
  }

  private func restore(_ index: Int, x: Int, y: Int, _ coefficients: BlockTransform.Matrix) {
    let prediction = target.block(index, x: x, y: y)
    let rest = BlockTransform.inverse(coefficients)
    target.setBlock(
      index, x: x, y: y,
      (prediction.0 &+ rest.0, prediction.1 &+ rest.1, prediction.2 &+ rest.2, prediction.3 &+ rest.3))
  }

  /// Rounds coefficients to steps, and down rather than up, as small ones cost more than they show.
  /// - Parameter first: 1: the mean is told elsewhere, and left as 0.
  private func quantise(
    _ matrix: inout BlockTransform.Matrix, _ steps: (dc: Int32, ac: Int32), first: Int, into coded: inout Coded,
    block: Int
  ) {
    var values = [matrix.0, matrix.1, matrix.2, matrix.3]
    for position in 0..<16 {
      let place = Self.zigzag[position]
      let (line, column) = (place / 4, place % 4)
      guard position >= first else {
        values[line][column] = 0
        continue
      }
      let step = position == 0 ? steps.dc : steps.ac
      let value = values[line][column]
      let level = min(2_047, (abs(value) + step * 3 / 8) / step)
      coded.levels[block * 16 + position] = Int16(value < 0 ? -level : level)
      values[line][column] = (value < 0 ? -level : level) * step
    }
    matrix = values.matrix
  }
}

extension [SIMD4<Int32>] {
  fileprivate var matrix: BlockTransform.Matrix { (self[0], self[1], self[2], self[3]) }
}
