/// Codes macroblocks that changed, each after the macroblocks left of and above it. It predicts, transforms and
/// quantises, and writes into the reference picture the samples that decoders will compute.
struct MacroblockCoder {
  /// A macroblock as it is written.
  struct Coded {
    /// The intra modes; nil where the macroblock is predicted from the last frame, by its vector.
    var intra: CodedMacroblocks.Intra?
    /// The levels: 16 quantised coefficients of each block.
    var levels = InlineArray<400, Int16>(repeating: 0)
    /// Whether all levels are 0.
    var isEmpty = true
  }

  /// The way in which a macroblock is predicted from the macroblocks left of and above it.
  enum IntraMode: Int, CaseIterable {
    case dc
    case vertical
    case horizontal
    case trueMotion
  }

  private let source: SourcePicture
  private let target: ReferencePicture
  private let luma: Quantizer
  private let means: Quantizer
  private let colour: Quantizer

  /// So much better (in the sum of differences) must a prediction within the frame be.
  private static let intraCost: Int32 = 128
  /// The block of `Coded` that has the means of luma.
  private static let meansBlock = 24

  /// - Parameter target: has the prediction from the last frame.
  init(_ source: SourcePicture, into target: ReferencePicture, steps: QuantizerSteps) {
    self.source = source
    self.target = target
    luma = Quantizer(steps.luma)
    means = Quantizer(steps.means)
    colour = Quantizer(steps.colour)
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
    var best: (mode: IntraMode?, difference: Int32) = (nil, .max)
    if let cost {
      best.difference = difference(index, row, column) - cost
      // None can be better.
      if best.difference <= 0 { return nil }
    }
    let sums = differences(index, row, column)
    for mode in IntraMode.allCases where sums[mode.rawValue] < best.difference {
      best = (mode, sums[mode.rawValue])
    }
    return best.mode
  }

  /// From what lies in the target.
  private func difference(_ index: Int, _ row: Int, _ column: Int) -> Int32 {
    let side = index == 0 ? 16 : 8
    var sum = SIMD4<Int32>()
    for y in stride(from: row * side, to: (row + 1) * side, by: 4) {
      for x in stride(from: column * side, to: (column + 1) * side, by: 4) {
        sum &+= Self.difference(source.block(index, x: x, y: y), target.block(index, x: x, y: y))
      }
    }
    return sum.wrappedSum()
  }

  /// From what each mode predicts, by its number.
  private func differences(_ index: Int, _ row: Int, _ column: Int) -> SIMD4<Int32> {
    let side = index == 0 ? 16 : 8
    let (left, top) = (column * side, row * side)
    let mean = mean(index, row, column)
    var sums = (SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>())
    for y in stride(from: top, to: top + side, by: 4) {
      for x in stride(from: left, to: left + side, by: 4) {
        let samples = source.block(index, x: x, y: y)
        func difference(_ mode: IntraMode) -> SIMD4<Int32> {
          Self.difference(samples, block(index, mode, x: x, y: y, left, top, mean: mean))
        }
        sums.0 &+= difference(.dc)
        sums.1 &+= difference(.vertical)
        sums.2 &+= difference(.horizontal)
        sums.3 &+= difference(.trueMotion)
      }
    }
    return SIMD4(sums.0.wrappedSum(), sums.1.wrappedSum(), sums.2.wrappedSum(), sums.3.wrappedSum())
  }

  /// The sum of the four is that of all differences.
  private static func difference(_ a: BlockTransform.Matrix, _ b: BlockTransform.Matrix) -> SIMD4<Int32> {
    Quantizer.magnitude(a.0 &- b.0) &+ Quantizer.magnitude(a.1 &- b.1) &+ Quantizer.magnitude(a.2 &- b.2)
      &+ Quantizer.magnitude(a.3 &- b.3)
  }

  private func predict(_ index: Int, _ mode: IntraMode, _ row: Int, _ column: Int) {
    let side = index == 0 ? 16 : 8
    let mean = mode == .dc ? mean(index, row, column) : 0
    // The samples of the prediction lie outside of the block that is written.
    for y in stride(from: row * side, to: (row + 1) * side, by: 4) {
      for x in stride(from: column * side, to: (column + 1) * side, by: 4) {
        target.setBlock(
          index, x: x, y: y, block(index, mode, x: x, y: y, column * side, row * side, mean: mean))
      }
    }
  }

  /// The mean of the samples around a macroblock.
  private func mean(_ index: Int, _ row: Int, _ column: Int) -> Int32 {
    let side = index == 0 ? 16 : 8
    var sum: Int32 = 0
    for offset in 0..<side {
      sum += target.sample(index, x: column * side + offset, y: row * side - 1)
      sum += target.sample(index, x: column * side - 1, y: row * side + offset)
    }
    return (sum + Int32(side)) / Int32(2 * side)
  }

  /// The prediction of four by four samples of the macroblock that begins at `left` and `top`.
  private func block(
    _ index: Int, _ mode: IntraMode, x: Int, y: Int, _ left: Int, _ top: Int, mean: Int32
  ) -> BlockTransform.Matrix {
    func above() -> SIMD4<Int32> { target.four(index, x: x, y: top - 1) }
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
    let nothing = (SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>(), SIMD4<Int32>())
    var coefficients = InlineArray<16, BlockTransform.Matrix>(repeating: nothing)
    var means = nothing
    for line in 0..<4 {
      var ofLine = SIMD4<Int32>()
      for number in 0..<4 {
        let block = transform(0, x: column * 16 + number * 4, y: row * 16 + line * 4)
        coefficients[line * 4 + number] = block
        ofLine[number] = block.0.x
      }
      Self.set(&means, line, ofLine)
    }
    means = BlockTransform.forwardMeans(means)
    self.means.quantise(&means, into: &coded, block: Self.meansBlock)
    let restored = BlockTransform.inverseMeans(means)
    for line in 0..<4 {
      let ofLine = line == 0 ? restored.0 : line == 1 ? restored.1 : line == 2 ? restored.2 : restored.3
      for number in 0..<4 {
        var block = coefficients[line * 4 + number]
        // The mean is told elsewhere.
        block.0.x = 0
        luma.quantise(&block, into: &coded, block: line * 4 + number)
        block.0.x = ofLine[number]
        restore(0, x: column * 16 + number * 4, y: row * 16 + line * 4, block)
      }
    }
  }

  private static func set(_ matrix: inout BlockTransform.Matrix, _ line: Int, _ values: SIMD4<Int32>) {
    switch line {
    case 0: matrix.0 = values
    case 1: matrix.1 = values
    case 2: matrix.2 = values
    default: matrix.3 = values
    }
  }

  private func codeColour(_ index: Int, _ row: Int, _ column: Int, _ coded: inout Coded) {
    for number in 0..<4 {
      let (x, y) = (column * 8 + number % 2 * 4, row * 8 + number / 2 * 4)
      var coefficients = transform(index, x: x, y: y)
      colour.quantise(&coefficients, into: &coded, block: 12 + index * 4 + number)
      restore(index, x: x, y: y, coefficients)
    }
  }

  private func transform(_ index: Int, x: Int, y: Int) -> BlockTransform.Matrix {
    let (samples, prediction) = (source.block(index, x: x, y: y), target.block(index, x: x, y: y))
    return BlockTransform.forward(
      (samples.0 &- prediction.0, samples.1 &- prediction.1, samples.2 &- prediction.2, samples.3 &- prediction.3))
  }

  private func restore(_ index: Int, x: Int, y: Int, _ coefficients: BlockTransform.Matrix) {
    guard Quantizer.hasAny(coefficients) else { return }
    let prediction = target.block(index, x: x, y: y)
    let rest = BlockTransform.inverse(coefficients)
    target.setBlock(
      index, x: x, y: y,
      (prediction.0 &+ rest.0, prediction.1 &+ rest.1, prediction.2 &+ rest.2, prediction.3 &+ rest.3))
  }
}
