import RTCPrimitives

/// When a server that failed is tried again: after 5 s, then each time twice as long up to 5 min, spread by ±20 % so that many
/// clients of one server do not come back together.
struct RetryBackoff {
  private static let first = TimeDelta.seconds(5)
  private static let longest = TimeDelta.seconds(300)

  private var wait = first

  /// - Parameter unit: a random number from 0 up to 1.
  mutating func next(unit: Double) -> TimeDelta {
    defer { wait = min(wait * 2, Self.longest) }
    return .seconds(wait.seconds * (0.8 + 0.4 * unit))
  }

  mutating func reset() { wait = Self.first }
}
