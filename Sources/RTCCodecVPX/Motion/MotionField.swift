/// The number of lines by which each macroblock of a picture moved. It is found by comparing with the picture before,
/// sample by sample.
struct MotionField {
  /// The farthest a VP8 vector leads, in lines.
  static let reach = 255

  /// A macroblock's content compared with the place in the picture before to which its vector leads.
  enum Match: UInt8 {
    /// The content is different, in part or as a whole.
    case new
    /// The content is equal.
    case exact
    /// The content is equal, but VP8 shows it with softer colours: by an odd number of lines, colours move by half a
    /// sample.
    case softened
  }

  let columns: Int
  let rows: Int
  private var vectors: [Int16]
  private var matches: [Match]
  /// Whether each macroblock is predicted from the macroblocks around it, not from the last frame.
  private var isIntra: [Bool]
  /// The number of macroblocks that come unchanged from elsewhere.
  private(set) var movedCount = 0

  /// Creates a field in which nothing moves.
  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    vectors = Array(repeating: 0, count: columns * rows)
    matches = Array(repeating: .exact, count: columns * rows)
    isIntra = Array(repeating: false, count: columns * rows)
  }

  /// The vector of a macroblock: the number of lines by which its content was further down before; negative if further
  /// up. The content's whole height lies within the picture.
  func vector(_ row: Int, _ column: Int) -> Int { Int(vectors[row * columns + column]) }

  /// The only vector besides 0; nil when nothing moves.
  private(set) var commonVector: Int?

  /// The vector that neighbours of this macroblock take into account; nil if it is not predicted from the last frame.
  func neighbour(_ row: Int, _ column: Int) -> Int? {
    isIntra[row * columns + column] ? nil : vector(row, column)
  }

  /// Marks a macroblock as predicted from the macroblocks around it.
  mutating func setIntra(_ row: Int, _ column: Int) { isIntra[row * columns + column] = true }

  /// The macroblocks in which a macroblock's content was before: one, or two below each other.
  func sources(_ row: Int, _ column: Int) -> (upper: Int, lower: Int) {
    let top = row * 16 + vector(row, column)
    return (top / 16 * columns + column, (top + 15) / 16 * columns + column)
  }

  func match(_ row: Int, _ column: Int) -> Match { matches[row * columns + column] }

  /// Chooses the vector of a macroblock that changed: the common one of the scroll, or none.
  mutating func choose(_ vector: Int, match: Match, row: Int, column: Int) {
    let source = row * 16 + vector
    precondition(abs(vector) <= Self.reach && source >= 0 && source <= (rows - 1) * 16)
    if vector != 0 {
      precondition(commonVector ?? vector == vector, "a picture scrolls by one distance")
      commonVector = vector
    }
    vectors[row * columns + column] = Int16(vector)
    matches[row * columns + column] = match
    if vector != 0, match != .new { movedCount += 1 }
  }
}
