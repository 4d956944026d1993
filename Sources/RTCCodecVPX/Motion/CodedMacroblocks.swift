/// The macroblocks of a frame that are coded, not only moved.
struct CodedMacroblocks {
  /// The modes in which a macroblock is predicted from the macroblocks around it.
  typealias Intra = (luma: MacroblockCoder.IntraMode, colour: MacroblockCoder.IntraMode)

  /// The number of levels of a macroblock: of 25 blocks (16 of luma, 4 of each colour, the means of luma) 16 quantised
  /// coefficients each, in the order in which they are written.
  static let levelCount = 400

  /// The number of each macroblock of the picture among the coded ones; -1 if it is not coded.
  private var numbers: [Int32]
  /// The intra modes of each coded macroblock; nil where it is predicted from the last frame, by its vector.
  private var intra: [Intra?] = []
  /// The index in `levels` of each coded macroblock's first level; nil where all its levels are 0.
  private var starts: [Int?] = []
  /// The levels of the macroblocks that have any other than 0, one macroblock after the other.
  private(set) var levels: [Int16] = []

  /// Creates a list without any of the `count` macroblocks of a picture.
  init(count: Int) { numbers = Array(repeating: -1, count: count) }

  /// The number of coded macroblocks.
  var count: Int { intra.count }
  /// The number of coded macroblocks with coefficients.
  var filledCount: Int { levels.count / Self.levelCount }
  /// The number of coded macroblocks that are predicted from the macroblocks around them.
  var intraCount: Int { intra.count { $0 != nil } }

  func intra(_ index: Int) -> Intra? {
    let number = Int(numbers[index])
    return number < 0 ? nil : intra[number]
  }

  /// The index of a macroblock's first level; nil if it is not coded or all its levels are 0.
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
