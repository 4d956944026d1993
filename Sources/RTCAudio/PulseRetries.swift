import RTCNet
import RTCPrimitives

/// When to try again what the sound server refused: after pauses that grow until something has worked.
struct PulseRetries {
  private static let firstPause = TimeDelta.milliseconds(100)
  private static let longestPause = TimeDelta.seconds(2)

  private var pause = PulseRetries.firstPause
  /// When a stream that was refused is to be tried again.
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
