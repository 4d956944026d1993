/// A VP8 frame (RFC 6386) that says of each macroblock where it comes from in the frame before, and codes those that are new:
/// for a 1080p page that scrolls, 0.5 kB and what came into view, however far it scrolled.
///
/// libvpx searches for movement near where it found it last, and codes anew what it does not find: 15–25 kB. Here nothing is
/// searched, as the screen itself says what moved. The frame leaves all probabilities of the stream as they were, so that
/// libvpx goes on with its own.
struct MotionFrame {
  private var output = BooleanEncoder()
  /// Whether macroblocks move.
  private let hasVectors: Bool
  private let intraCount: Int
  private var coefficients: CoefficientWriter
  /// How likely a macroblock has coefficients, and is predicted from those around it.
  private let codedProbability: UInt8
  private let intraProbability: UInt8

  /// - Parameters:
  ///   - coded: macroblocks that are more than moved.
  ///   - quantizerIndex: what they are coded with, 0…127.
  static func bytes(_ field: MotionField, coded: CodedMacroblocks, quantizerIndex: Int) -> [UInt8] {
    var frame = MotionFrame(field, coded)
    frame.writeHeader(quantizerIndex)
    for row in 0..<field.rows {
      for column in 0..<field.columns { frame.writeMacroblock(row, column, field, coded) }
    }
    let first = frame.output.finish()
    // Section 9.1: not a key frame, version 0, shown; then the size of the first partition.
    let tag = 1 | 1 << 4 | first.count << 5
    return [UInt8(tag & 255), UInt8(tag >> 8 & 255), UInt8(tag >> 16 & 255)] + first + frame.coefficients.finish()
  }

  private init(_ field: MotionField, _ coded: CodedMacroblocks) {
    hasVectors = field.commonVector != nil
    intraCount = coded.intraCount
    func probability(_ count: Int) -> UInt8 { UInt8(max(1, min(255, count * 256 / (field.columns * field.rows)))) }
    codedProbability = probability(coded.filledCount)
    intraProbability = probability(intraCount)
    coefficients = CoefficientWriter(field, coded)
  }

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
    coefficients.writeProbabilities(to: &output)
    write(1, bits: 1)  // macroblocks without coefficients say so
    write(Int(codedProbability), bits: 8)
    write(Int(intraProbability), bits: 8)
    write(Int(Self.mostlyFalse), bits: 8)  // others are predicted from the last frame
    write(128, bits: 8)
    // A frame without intra macroblocks leaves the probabilities of their modes unchanged, one bit for each table.
    for probabilities in [Self.lumaModes, Self.colourModes] {
      write(intraCount > 0 ? 1 : 0, bits: 1)
      guard intraCount > 0 else { continue }
      for probability in probabilities { write(Int(probability), bits: 8) }
    }
    writeVectorProbabilities()
  }

  private mutating func writeVectorProbabilities() {
    for (updates, probabilities) in [
      (Self.rowUpdates, Self.rowProbabilities), (Self.columnUpdates, Self.columnProbabilities),
    ] {
      for (update, probability) in zip(updates, probabilities) {
        let isTold = probability != 0 && hasVectors
        output.write(isTold, update)
        // The lowest bit of a probability is always 0.
        if isTold { write(Int(probability >> 1), bits: 7) }
      }
    }
  }

  private mutating func write(_ value: Int, bits: Int) {
    for bit in (0..<bits).reversed() { output.write(value >> bit & 1 == 1, 128) }
  }

  // MARK: Macroblocks (sections 9.3, 16, 17)

  /// The field and the coded macroblocks are arguments, as this frame's own would be copied for each macroblock.
  private mutating func writeMacroblock(
    _ row: Int, _ column: Int, _ field: MotionField, _ coded: CodedMacroblocks
  ) {
    let index = row * field.columns + column
    output.write(coded.firstLevel(index) == nil, codedProbability)
    let intra = coded.intra(index)
    output.write(intra == nil, intraProbability)
    if let intra { return writeModes(intra.luma, intra.colour) }
    output.write(false, Self.mostlyFalse)  // from the last frame
    let vector = field.vector(row, column)
    let near = NearVectors(
      above: row > 0 ? field.neighbour(row - 1, column) : nil,
      left: column > 0 ? field.neighbour(row, column - 1) : nil,
      corner: row > 0 && column > 0 ? field.neighbour(row - 1, column - 1) : nil, row: row, rows: field.rows)
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

  private mutating func writeModes(_ luma: MacroblockCoder.IntraMode, _ colour: MacroblockCoder.IntraMode) {
    output.write(luma != .dc, Self.lumaModes[0])
    if luma != .dc {
      output.write(luma == .trueMotion, Self.lumaModes[1])
      if luma == .trueMotion {
        output.write(false, Self.lumaModes[3])  // not each block by itself
      } else {
        output.write(luma == .horizontal, Self.lumaModes[2])
      }
    }
    output.write(colour != .dc, Self.colourModes[0])
    guard colour != .dc else { return }
    output.write(colour != .vertical, Self.colourModes[1])
    if colour != .vertical { output.write(colour == .trueMotion, Self.colourModes[2]) }
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

  private static let mostlyFalse: UInt8 = 255
  /// The probabilities of the modes within the frame; blocks are never predicted each by itself.
  private static let lumaModes: [UInt8] = [112, 86, 140, 255]
  private static let colourModes: [UInt8] = [162, 101, 204]
  /// The next node for each node and bit.
  private static let shortTree = [[1, 4], [2, 3], [0, 0], [0, 0], [5, 6], [0, 0], [0, 0]]
  /// The probabilities of a vector's two components (section 17.2) in this frame; 0: not used. Quarters of a line are rare, as
  /// is another column.
  private static let rowProbabilities: [UInt8] = [
    128, 128, 128, 0, 0, 0, 128, 254, 0, 254, 254, 128, 128, 128, 128, 128, 128, 160, 200,
  ]
  private static let columnProbabilities: [UInt8] = [254, 0, 254, 254, 254] + Array(repeating: 0, count: 14)
  /// The probability that each of them is not updated, in 256ths.
  private static let rowUpdates: [UInt8] = [
    237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254,
  ]
  private static let columnUpdates: [UInt8] = [
    231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254,
  ]
}
