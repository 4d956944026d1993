package import RTCPrimitives

/// Detects that the machine has slept: one clock continues meanwhile and the other does not.
package struct SleepWatch: Sendable {
  private var asleep: TimeDelta
  /// Shorter sleeps, and the difference between two readings, do not count.
  private static let least = TimeDelta.seconds(1)

  /// From now on.
  package init(monotonic: Timestamp, boot: Timestamp) { asleep = boot - monotonic }

  /// - Parameters: both clocks, read one after the other.
  /// - Returns: true when the machine has slept since the last call.
  package mutating func hasSlept(monotonic: Timestamp, boot: Timestamp) -> Bool {
    let now = boot - monotonic
    defer { asleep = now }
    return now - asleep >= Self.least
  }
}
