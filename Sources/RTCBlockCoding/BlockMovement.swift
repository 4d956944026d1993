/// Where in the last picture the blocks come from that a coder is to code: where it is worth looking for them.
package enum BlockMovement: Equatable, Sendable {
  /// Where they are.
  case none
  /// Many from so many rows lower.
  case scroll(Int)
  case unknown
}
