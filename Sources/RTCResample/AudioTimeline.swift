import RTCPrimitives

/// When the samples of a count that goes on were heard: by the count, corrected slowly towards what the source says, so
/// that a source that stamps unsteadily has steady times and one whose clock runs a little fast is followed.
struct AudioTimeline {
  private var origin = Timestamp.zero
  private var originPosition: Int64 = 0
  private var known = TimeDelta.zero

  /// Stamps are averaged over so much sound: 20 ms of jitter becomes one, a clock off by 100 ppm 0.4 ms.
  private static let window = TimeDelta.seconds(4)

  /// - Parameter position: in samples at 48 kHz.
  func time(of position: Int64) -> Timestamp {
    // 10⁹ / 48 000 = 62 500 / 3
    origin + TimeDelta(nanoseconds: (position &- originPosition) &* 62_500 / 3)
  }

  mutating func restart(at time: Timestamp, position: Int64) {
    origin = time
    originPosition = position
    known = .zero
  }

  /// Notes that `duration` of sound was heard `offset` later than `time(of:)` says.
  mutating func note(offset: TimeDelta, over duration: TimeDelta) {
    known = min(known + duration, Self.window)
    guard known > .zero else { return }
    let share = Double(duration.nanoseconds) / Double(known.nanoseconds)
    // Times go on evenly: they never run faster or slower by more than a tenth.
    let limit = duration.nanoseconds / 10
    let correction = Int64(Double(offset.nanoseconds) * min(1, share))
    origin += TimeDelta(nanoseconds: max(-limit, min(limit, correction)))
  }
}

extension TimeDelta {
  /// Whole samples at 48 kHz, rounded.
  var sampleCount: Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * 48_000 + Int64((Double(rest) * 48e-6).rounded())
  }
}
