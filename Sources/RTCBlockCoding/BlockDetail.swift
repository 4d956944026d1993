/// The detail in a block's luma, measured on four of its lines.
struct BlockDetail {
  /// The number of neighbouring pairs of samples that are compared.
  static let pairs = 4 * 15

  /// The amount of detail, 1…255: the cost of coding the block, relative to other blocks.
  var weight: UInt8
  /// The number of neighbours that differ but little, 0…`pairs`.
  var similar: UInt8
}
