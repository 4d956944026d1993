/// A VP8 frame that says of each macroblock only where it comes from in the frame before (RFC 6386): for a 1080p page that
/// scrolls, 0.5–0.8 kB, however far it scrolled.
///
/// libvpx searches for movement near where it found it last, and codes anew what it does not find: 15–25 kB. Here nothing is
/// searched, as the screen itself says what moved. The frame leaves all probabilities of the stream as they were, so that
/// libvpx goes on with its own.
struct MotionFrame {
  private var output = BooleanEncoder()
  private let field: MotionField

  /// - Parameter quantizerIndex: 0…127, for receivers that show it; nothing is coded with it.
  static func bytes(_ field: MotionField, quantizerIndex: Int) -> [UInt8] {
    var frame = MotionFrame(field: field)
    frame.writeHeader(quantizerIndex)
    for row in 0..<field.rows {
      for column in 0..<field.columns { frame.writeMacroblock(row, column) }
    }
    let first = frame.output.finish()
    // Section 9.1: not a key frame, version 0, shown; then the size of the first partition.
    let tag = 1 | 1 << 4 | first.count << 5
    // The second partition holds the coefficients: there are none.
    return [UInt8(tag & 255), UInt8(tag >> 8 & 255), UInt8(tag >> 16 & 255)] + first + [0, 0]
  }

  private init(field: MotionField) { self.field = field }

  // MARK: Header (section 9.2 on, 19.2)

  private mutating func writeHeader(_ quantizerIndex: Int) {
    write(0, bits: 1)  // no segments
    write(0, bits: 1 + 6 + 3)  // a loop filter of level 0: none
    write(0b10, bits: 2)  // its adjustments stay as they are
    write(0, bits: 2)  // one partition of coefficients
    write(quantizerIndex, bits: 7)
    write(0, bits: 5)  // without differences
    write(0, bits: 2 + 2 + 2 + 2)  // golden and alternate frame stay, and their signs
    write(0, bits: 1)  // the probabilities are of this frame alone
    write(1, bits: 1)  // it becomes the last frame
    for probability in Self.coefficientUpdates { output.write(false, probability) }
    write(1, bits: 1)  // macroblocks without coefficients say so,
    write(Int(Self.mostlyTrue), bits: 8)  // as all do
    write(Int(Self.mostlyTrue), bits: 8)  // all are predicted from other frames,
    write(Int(Self.mostlyFalse), bits: 8)  // from the last one
    write(128, bits: 8)
    write(0, bits: 2)  // modes within the frame are not used
    writeVectorProbabilities()
  }

  private mutating func writeVectorProbabilities() {
    for (updates, probabilities) in [
      (Self.rowUpdates, Self.rowProbabilities), (Self.columnUpdates, Self.columnProbabilities),
    ] {
      for (update, probability) in zip(updates, probabilities) {
        output.write(probability != 0, update)
        // The lowest bit of a probability is always 0.
        if probability != 0 { write(Int(probability >> 1), bits: 7) }
      }
    }
  }

  private mutating func write(_ value: Int, bits: Int) {
    for bit in (0..<bits).reversed() { output.write(value >> bit & 1 == 1, 128) }
  }

  // MARK: Macroblocks (sections 9.3, 16.3, 17)

  private mutating func writeMacroblock(_ row: Int, _ column: Int) {
    output.write(true, Self.mostlyTrue)  // no coefficients
    output.write(true, Self.mostlyTrue)  // from another frame,
    output.write(false, Self.mostlyFalse)  // the last one
    let vector = field.vector(row, column)
    let near = NearVectors(field, row, column)
    output.write(vector != 0, near.probability(0))
    guard vector != 0 else { return }
    output.write(vector != near.nearest, near.probability(1))
    guard vector != near.nearest else { return }
    output.write(vector != near.near, near.probability(2))
    guard vector != near.near else { return }
    output.write(false, near.probability(3))  // one new vector, not split
    writeVector(vector - near.best, Self.rowProbabilities)
    writeVector(0, Self.columnProbabilities)
  }

  /// - Parameter difference: in lines; vectors are written in quarters of them.
  private mutating func writeVector(_ difference: Int, _ probability: [UInt8]) {
    let size = abs(difference) * 4
    let isLong = size >= 8
    output.write(isLong, probability[0])
    if isLong {
      for bit in [0, 1, 2, 9, 8, 7, 6, 5, 4] { output.write(size >> bit & 1 == 1, probability[9 + bit]) }
      // Of a long one without higher bits this one is set.
      if size > 15 { output.write(size >> 3 & 1 == 1, probability[9 + 3]) }
    } else {
      var node = 0
      for bit in [2, 1, 0] {
        let isSet = size >> bit & 1 == 1
        output.write(isSet, probability[2 + node])
        node = Self.shortTree[node][isSet ? 1 : 0]
      }
    }
    if size > 0 { output.write(difference < 0, probability[1]) }
  }

  // MARK: Tables

  private static let (mostlyTrue, mostlyFalse): (UInt8, UInt8) = (1, 255)
  /// The node that follows each, by bit.
  private static let shortTree = [[1, 4], [2, 3], [0, 0], [0, 0], [5, 6], [0, 0], [0, 0]]
  /// The probabilities of a vector's two components (section 17.2) in this frame; 0: not used. Quarters of a line are rare, as
  /// is another column.
  private static let rowProbabilities: [UInt8] = [
    128, 128, 128, 0, 0, 0, 128, 254, 0, 254, 254, 128, 128, 128, 128, 128, 128, 160, 200,
  ]
  private static let columnProbabilities: [UInt8] = [254, 0, 254, 254, 254] + Array(repeating: 0, count: 14)
  /// How likely each of them is not updated.
  private static let rowUpdates: [UInt8] = [
    237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254,
  ]
  private static let columnUpdates: [UInt8] = [
    231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254,
  ]
  /// How likely each probability of a coefficient is not updated (section 13.4).
  private static let coefficientUpdates: [UInt8] = {
    var all: [UInt8] = []
    for (ones, probability) in rarelyKept { all += Array(repeating: 255, count: ones) + [probability] }
    return all + Array(repeating: 255, count: 4 * 8 * 3 * 11 - all.count)
  }()
  /// Those of them that are not 255, and how many that are come before each.
  private static let rarelyKept: [(Int, UInt8)] = [
    (33, 176), (0, 246), (9, 223), (0, 241), (0, 252), (8, 249), (0, 253), (0, 253), (9, 244), (0, 252), (8, 234),
    (0, 254), (0, 254), (8, 253), (11, 246), (0, 254), (8, 239), (0, 253), (0, 254), (8, 254), (1, 254), (9, 248),
    (0, 254), (8, 251), (1, 254), (20, 253), (0, 254), (8, 251), (0, 254), (0, 254), (8, 254), (1, 254), (9, 254),
    (0, 253), (1, 254), (6, 250), (1, 254), (1, 254), (6, 254), (43, 217), (10, 225), (0, 252), (0, 241), (0, 253),
    (2, 254), (4, 234), (0, 250), (0, 241), (0, 250), (0, 253), (1, 253), (0, 254), (4, 254), (9, 223), (0, 254),
    (0, 254), (8, 238), (0, 253), (0, 254), (0, 254), (8, 248), (0, 254), (8, 249), (0, 254), (21, 253), (9, 247),
    (0, 254), (21, 253), (0, 254), (8, 252), (22, 254), (0, 254), (8, 253), (22, 254), (0, 253), (8, 250), (10, 254),
    (43, 186), (0, 251), (0, 250), (8, 234), (0, 251), (0, 244), (0, 254), (7, 251), (0, 251), (0, 243), (0, 253),
    (0, 254), (1, 254), (5, 253), (0, 254), (8, 236), (0, 253), (0, 254), (8, 251), (0, 253), (0, 253), (0, 254),
    (0, 254), (7, 254), (0, 254), (8, 254), (0, 254), (0, 254), (20, 254), (9, 254), (0, 254), (9, 254), (21, 254),
    (120, 248), (10, 250), (0, 254), (0, 252), (0, 254), (7, 248), (0, 254), (0, 249), (0, 253), (8, 253), (0, 253),
    (8, 246), (0, 253), (0, 253), (8, 252), (0, 254), (0, 251), (0, 254), (0, 254), (7, 254), (0, 252), (8, 248),
    (0, 254), (0, 253), (8, 253), (1, 254), (0, 254), (8, 251), (0, 254), (8, 245), (0, 251), (0, 254), (8, 253),
    (0, 253), (0, 254), (9, 251), (0, 253), (8, 252), (0, 253), (0, 254), (9, 254), (10, 252), (9, 249), (1, 254),
    (10, 254), (10, 253), (8, 250), (32, 254),
  ]
}
