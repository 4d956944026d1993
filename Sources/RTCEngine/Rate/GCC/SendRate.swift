import RTCPrimitives

/// The recent send rate, which shows whether the sender used its allowance.
struct SendRate {
  private static let slots = 8
  private static let slotTime = TimeDelta.milliseconds(100)

  private struct Sample {
    var time = Timestamp.zero
    var bytes: UInt64 = 0
  }

  private var ring = [Sample](repeating: Sample(), count: Self.slots)
  private var count = 0

  mutating func add(_ activity: SendActivity, _ now: Timestamp) {
    if count > 0, now - ring[(count - 1) % Self.slots].time < Self.slotTime { return }
    ring[count % Self.slots] = Sample(time: now, bytes: activity.sentBytes)
    count += 1
  }

  /// Bits per second over the last 800 ms or since the beginning; nil for the first moments.
  func rate(_ activity: SendActivity, _ now: Timestamp) -> Double? {
    guard count > 1 else { return nil }
    let oldest = ring[count > Self.slots ? count % Self.slots : 0]
    let time = (now - oldest.time).seconds
    guard time >= 0.3, activity.sentBytes >= oldest.bytes else { return nil }
    return Double(activity.sentBytes - oldest.bytes) * 8 / time
  }

  mutating func reset() { count = 0 }
}
