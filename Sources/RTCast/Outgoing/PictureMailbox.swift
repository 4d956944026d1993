package import RTCMedia

/// Holds the newest picture for an encoder that is busy, and what differs from the picture that was taken out before it.
package struct PictureMailbox: Sendable {
  /// More rectangles than this count as everything.
  private static let maximumRects = 64

  private var newest: VideoFrame?
  private var replaced: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { newest == nil }

  /// Replaces the waiting frame by `frame`, with the damage of both.
  package mutating func post(_ frame: VideoFrame) {
    guard let old = newest else {
      newest = frame
      return
    }
    newest = frame
    newest?.damage = Self.union(old, frame)
    replaced += 1
  }

  /// Takes the newest picture out.
  /// - Returns: the picture, and how many it replaced since the last call; nil when there is none.
  package mutating func take() -> (frame: VideoFrame, replaced: UInt64)? {
    guard let frame = newest else { return nil }
    defer { clear() }
    return (frame, replaced)
  }

  package mutating func clear() {
    newest = nil
    replaced = 0
  }

  /// Nil (everything) when either is, or when the pictures do not lie upon each other.
  private static func union(_ old: VideoFrame, _ new: VideoFrame) -> [PixelRect]? {
    guard let before = old.damage, let after = new.damage, old.size == new.size, old.colorSpace == new.colorSpace,
      before.count + after.count <= maximumRects
    else { return nil }
    return before + after
  }
}
