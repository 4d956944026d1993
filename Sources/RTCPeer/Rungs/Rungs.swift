package import RTCEngine
public import RTCMedia

/// The rungs of a track: renditions of the same pictures for viewers with different networks. The order says which of
/// them is the main rung, and nothing else does: every other part has a copy of this value.
public struct Rungs: Hashable, Sendable {
  /// The rungs, the main rung first.
  public private(set) var all: [Rendition]

  /// - Parameter all: the rungs, the main rung first; one at least.
  public init(_ all: [Rendition]) {
    precondition(!all.isEmpty, "Rungs: there is a main rung")
    self.all = all
  }

  /// The rung for viewers with enough bandwidth. Its key frames are rare, since each costs all its viewers.
  public var main: Rendition { all[0] }

  /// The rungs for viewers that join, lose too many packets, or are slow; the one for the fastest first.
  public var sides: ArraySlice<Rendition> { all.dropFirst() }

  /// Makes `side` the main rung, and the main rung a side rung in its place.
  mutating func promote(_ side: Rendition) {
    if let index = all.firstIndex(of: side) { all.swapAt(0, index) }
  }
}

/// Counters of the viewers of a track with rungs, since it was made.
package struct RungCounts: Hashable, Sendable {
  /// Key frames that viewers needed, by reason.
  package var keyFrameRequests: [KeyFrameReason: UInt64] = [:]
  /// Moves off the main rung, by reason.
  package var moves: [RungReason: UInt64] = [:]
  /// Moves to the main rung.
  package var handovers: UInt64 = 0
}
