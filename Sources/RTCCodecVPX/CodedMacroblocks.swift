/// The macroblocks of a frame that are more than moved.
struct CodedMacroblocks {
  /// How one of them is predicted from those around it.
  typealias Intra = (luma: MacroblockCoder.IntraMode, colour: MacroblockCoder.IntraMode)

  /// Of 25 blocks (16 of luma, 4 of each colour, the means of luma) 16 quantised coefficients each, in the order they are
  /// written.
  static let levelCount = 400

  /// For each macroblock of the picture which of the coded ones it is; -1: none.
  private var numbers: [Int32]
  /// Nil: predicted from the last frame, by its vector.
  private var intra: [Intra?] = []
  /// Where its levels begin; nil: all are 0.
  private var starts: [Int?] = []
  /// Of those that have any but 0, one after the other.
  private(set) var levels: [Int16] = []

  /// None of the `count` macroblocks of a picture.
  init(count: Int) { numbers = Array(repeating: -1, count: count) }

  /// How many there are.
  var count: Int { intra.count }
  /// How many have coefficients.
  var filledCount: Int { levels.count / Self.levelCount }
  /// How many are predicted from those around them.
  var intraCount: Int { intra.count { $0 != nil } }

  func intra(_ index: Int) -> Intra? {
    let number = Int(numbers[index])
    return number < 0 ? nil : intra[number]
  }

  /// Where the levels of a macroblock begin; nil without any but 0.
  func firstLevel(_ index: Int) -> Int? {
    let number = Int(numbers[index])
    return number < 0 ? nil : starts[number]
  }

  /// Adds the macroblock with the number `index` in the picture.
  mutating func append(_ index: Int, _ macroblock: MacroblockCoder.Coded) {
    numbers[index] = Int32(intra.count)
    intra.append(macroblock.intra)
    starts.append(macroblock.isEmpty ? nil : levels.count)
    guard !macroblock.isEmpty else { return }
    let new = macroblock.levels.span
    for level in new.indices { levels.append(new[level]) }
  }
}
