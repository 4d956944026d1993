import RTCPrimitives

/// How many bytes of images may be sent: a pointer that always looks otherwise must not take the network from the video.
struct ImageBudget {
  /// Below zero after an image that was larger.
  private var credit = Self.depth
  private var updated = Timestamp.zero

  private static let bytesPerSecond = 20_000.0
  /// Credit that is not used is kept up to this, about a dozen of usual images.
  private static let depth = 65_536.0

  mutating func spend(_ bytes: Int, now: Timestamp) {
    credit = min(Self.depth, credit + (now - updated).seconds * Self.bytesPerSecond) - Double(bytes)
    updated = now
  }

  /// When there is credit again.
  var nextTurn: Timestamp { credit >= 0 ? .zero : updated + .seconds(-credit / Self.bytesPerSecond) }
}
