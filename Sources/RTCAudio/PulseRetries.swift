import RTCNet
import RTCPrimitives

/// Schedules retries of streams that the sound server refused, with pauses that grow until one succeeds.
struct PulseRetries {
  private static let firstPause = TimeDelta.milliseconds(100)
  private static let longestPause = TimeDelta.seconds(2)

  private var pause = PulseRetries.firstPause
  /// The time to retry a refused stream.
  private(set) var due: Timestamp?

  /// The next try is after a pause.
  mutating func schedule() { due = MonotonicClock.now() + nextPause() }

  /// True once, when the next try is due.
  mutating func takeDue() -> Bool {
    guard let due, MonotonicClock.now() >= due else { return false }
    self.due = nil
    return true
  }

  mutating func noteSuccess() { pause = Self.firstPause }

  mutating func nextPause() -> TimeDelta {
    defer { pause = min(pause * 2, Self.longestPause) }
    return pause
  }
}
