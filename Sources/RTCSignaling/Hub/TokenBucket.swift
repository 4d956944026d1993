import RTCPrimitives

/// Lets so much through at once and so much a second for long.
struct TokenBucket {
  private let capacity: Double
  private let perSecond: Double
  private var level: Double
  private var updated: Timestamp

  /// Full at the start.
  init(capacity: Double, perSecond: Double, now: Timestamp) {
    self.capacity = capacity
    self.perSecond = perSecond
    level = capacity
    updated = now
  }

  /// Takes an amount; false when there is less, and then nothing is taken.
  mutating func take(_ amount: Double, now: Timestamp) -> Bool {
    if now > updated {
      level = min(capacity, level + (now - updated).seconds * perSecond)
      updated = now
    }
    guard level >= amount else { return false }
    level -= amount
    return true
  }
}
