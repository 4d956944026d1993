/// The movement of the blocks that a coder is to code: where in the last picture it is worth looking for them.
package enum BlockMovement: Equatable, Sendable {
  /// The blocks did not move.
  case none
  /// Many blocks come from this number of rows further down in the last picture; from further up where it is negative.
  case scroll(Int)
  case unknown
}
