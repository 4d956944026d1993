import RTCPrimitives

/// The times of samples by their count, corrected slowly towards the source's times: an unsteady source gets steady
/// times, and a source whose clock is slightly fast is followed.
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

  /// Records that `duration` of sound was `offset` later than `time(of:)`.
  mutating func note(offset: TimeDelta, over duration: TimeDelta) {
    known = min(known + duration, Self.window)
    guard known > .zero else { return }
    let share = Double(duration.nanoseconds) / Double(known.nanoseconds)
    // Times advance evenly: at most a tenth faster or slower.
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
