package import RTCPrimitives

/// Counts the sound that passes while no device asks for it, in steps of 10 ms.
package struct UnheardClock {
  private static let step = TimeDelta.milliseconds(10)
  private static let samplesPerStep = 480
  /// More at once is left out: the thread stood still.
  private static let longest: Int64 = 50

  /// Up to where sound has passed.
  private var passed: Timestamp?

  package init() {}

  /// - Returns: the samples that are due, and when the next are.
  package mutating func pass(until now: Timestamp) -> (samples: Int, next: Timestamp) {
    guard let passed else {
      self.passed = now
      return (0, now + Self.step)
    }
    let steps = max(0, (now - passed).nanoseconds / Self.step.nanoseconds)
    let end = passed + Self.step * steps
    self.passed = end
    return (Int(min(steps, Self.longest)) * Self.samplesPerStep, end + Self.step)
  }

  /// A device asks again.
  package mutating func stop() { passed = nil }
}
