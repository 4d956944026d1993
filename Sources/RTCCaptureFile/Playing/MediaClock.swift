internal import RTCPrimitives

/// Ties the media timeline to the monotonic clock, by speed and pauses; pictures and sound follow the same one, so they
/// cannot drift apart. A pure value.
struct MediaClock {
  private var media = TimeDelta.zero
  private var time = Timestamp.zero
  private(set) var speed = 1.0
  private(set) var isRunning = false

  /// What is due at `now`.
  func media(at now: Timestamp) -> TimeDelta {
    guard isRunning else { return media }
    // Exact where it can be, so that at the very moment something is due it is.
    return media + (speed == 1 ? now - time : TimeDelta.seconds((now - time).seconds * speed))
  }

  /// When `position` is due; nil while the clock stands.
  func due(_ position: TimeDelta) -> Timestamp? {
    guard isRunning else { return nil }
    let distance = position - media
    return time + (speed == 1 ? distance : TimeDelta.seconds(distance.seconds / speed))
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
