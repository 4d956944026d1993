/// Whether a remote track has ended, and the handler that is called then, once.
struct TrackEnding {
  private(set) var hasEnded = false
  private var handler: (@Sendable () -> Void)?

  /// Keeps the handler for the end.
  /// - Returns: whether the end has come already, so that the caller must call it.
  mutating func setHandler(_ handler: @escaping @Sendable () -> Void) -> Bool {
    if !hasEnded { self.handler = handler }
    return hasEnded
  }

  /// The track has ended.
  /// - Returns: the handler to call; nil where there is none, or when it was called before.
  mutating func end() -> (@Sendable () -> Void)? {
    hasEnded = true
    return handler.take()
  }
}
