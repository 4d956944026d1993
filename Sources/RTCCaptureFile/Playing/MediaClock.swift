internal import RTCPrimitives

/// Ties the media timeline to the monotonic clock, by speed and pauses; pictures and sound follow the same one, so they
/// cannot drift apart. A pure value.
struct MediaClock {
  private var media = TimeDelta.zero
  private var time = Timestamp.zero
  private(set) var speed = 1.0
  private(set) var isRunning = false

  /// The media time at `now`.
  func media(at now: Timestamp) -> TimeDelta {
    guard isRunning else { return media }
    return media + Self.scaled(now - time, by: speed)
  }

  /// The time at which `position` is due; nil while the clock stands.
  func due(_ position: TimeDelta) -> Timestamp? {
    guard isRunning else { return nil }
    let distance = position - media
    return time + Self.scaled(distance, by: 1 / speed)
  }

  /// The length multiplied by `factor`, rounded to the nearest nanosecond, and exact at speed 1: a time that is due
  /// must be seen to be due.
  private static func scaled(_ length: TimeDelta, by factor: Double) -> TimeDelta {
    guard factor != 1 else { return length }
    return TimeDelta(nanoseconds: Int64(max(-9e18, min(9e18, (Double(length.nanoseconds) * factor).rounded()))))
  }

  mutating func run(at now: Timestamp) {
    guard !isRunning else { return }
    time = now
    isRunning = true
  }

  mutating func stop(at now: Timestamp) {
    media = media(at: now)
    time = now
    isRunning = false
  }

  mutating func setSpeed(_ speed: Double, at now: Timestamp) {
    media = media(at: now)
    time = now
    self.speed = speed
  }
}
