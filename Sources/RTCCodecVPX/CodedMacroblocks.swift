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
  private var isEmpty: [Bool] = []
  /// Of all coded macroblocks one after the other.
  private(set) var levels: [Int16] = []

  /// None of the `count` macroblocks of a picture.
  init(count: Int) { numbers = Array(repeating: -1, count: count) }

  /// How many there are.
  var count: Int { intra.count }
  /// How many have coefficients.
  var filledCount: Int { isEmpty.count { !$0 } }
  /// How many are predicted from those around them.
  var intraCount: Int { intra.count { $0 != nil } }

  func intra(_ index: Int) -> Intra? {
    let number = Int(numbers[index])
    return number < 0 ? nil : intra[number]
  }

  /// Where the levels of a macroblock begin; nil without any but 0.
  func firstLevel(_ index: Int) -> Int? {
    let number = Int(numbers[index])
    return number < 0 || isEmpty[number] ? nil : number * Self.levelCount
  }

  /// Adds the macroblock with the number `index` in the picture.
  mutating func append(_ index: Int, _ macroblock: MacroblockCoder.Coded) {
    numbers[index] = Int32(intra.count)
    intra.append(macroblock.intra)
    isEmpty.append(macroblock.isEmpty)
    for level in macroblock.levels.indices { levels.append(macroblock.levels[level]) }
  }
}
