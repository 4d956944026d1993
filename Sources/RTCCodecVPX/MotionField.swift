/// From how many lines away each macroblock of a picture comes: what scrolled, found by comparing with the picture before,
/// sample by sample.
struct MotionField {
  /// The farthest a VP8 vector leads, in lines.
  static let reach = 255

  /// What a macroblock is, beside what its vector leads to in the picture before.
  enum Match: UInt8 {
    /// Something else, in part or as a whole.
    case new
    /// The same.
    case exact
    /// The same, but VP8 shows it with softer colours: by an odd number of lines, colours move by half a sample.
    case softened
  }

  let columns: Int
  let rows: Int
  private var vectors: [Int16]
  private var matches: [Match]
  /// Macroblocks that are predicted from those around them, not from the last frame.
  private var isIntra: [Bool]
  /// Macroblocks that come unchanged from elsewhere.
  private(set) var movedCount = 0

  /// Everything stays.
  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    vectors = Array(repeating: 0, count: columns * rows)
    matches = Array(repeating: .exact, count: columns * rows)
    isIntra = Array(repeating: false, count: columns * rows)
  }

  /// How many lines further down (or, negative, up) its content was; with its height within the picture.
  func vector(_ row: Int, _ column: Int) -> Int { Int(vectors[row * columns + column]) }

  /// The same as others are told by it; nil: it comes from nowhere.
  func neighbour(_ row: Int, _ column: Int) -> Int? {
    isIntra[row * columns + column] ? nil : vector(row, column)
  }

  /// Says that it is predicted from the macroblocks around it.
  mutating func setIntra(_ row: Int, _ column: Int) { isIntra[row * columns + column] = true }

  /// The macroblocks in which its content was: one, or two below each other.
  func sources(_ row: Int, _ column: Int) -> (upper: Int, lower: Int) {
    let top = row * 16 + vector(row, column)
    return (top / 16 * columns + column, (top + 15) / 16 * columns + column)
  }

  func match(_ row: Int, _ column: Int) -> Match { matches[row * columns + column] }

  /// Chooses the vector of a macroblock that changed: the one common to what scrolls, or none.
  mutating func choose(_ vector: Int, match: Match, row: Int, column: Int) {
    let source = row * 16 + vector
    precondition(abs(vector) <= Self.reach && source >= 0 && source <= (rows - 1) * 16)
    vectors[row * columns + column] = Int16(vector)
    matches[row * columns + column] = match
    if vector != 0, match != .new { movedCount += 1 }
  }
}
