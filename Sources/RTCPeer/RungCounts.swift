package import RTCEngine

/// Counters of the viewers of a track with rungs, since it was made.
package struct RungCounts: Hashable, Sendable {
  /// Key frames that viewers needed, by reason.
  package var wishes: [KeyFrameReason: UInt64] = [:]
  /// Moves off the main rung, by reason.
  package var moves: [RungReason: UInt64] = [:]
  /// Moves to the main rung.
  package var handovers: UInt64 = 0
}
