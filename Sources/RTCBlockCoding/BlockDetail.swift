/// What four lines of a block's luma tell.
struct BlockDetail {
  /// Neighbours that are looked at.
  static let pairs = 4 * 15

  /// How much detail there is, 1…255: what the block costs to code, relative to others.
  var weight: UInt8
  /// Neighbours that differ but little, 0…`pairs`.
  var similar: UInt8
}
