/// A limit of amounts: so much at once after a pause, and so much a second for long.
package struct TokenBucket: Sendable {
  private let capacity: Double
  /// The amount that comes back in a second; a new one counts from the last time that something was taken.
  package var perSecond: Double
  private var level: Double
  private var updated: Timestamp

  /// Full at the start.
  /// - Parameters:
  ///   - capacity: the largest amount at once.
  ///   - perSecond: the amount that comes back in a second.
  package init(capacity: Double, perSecond: Double, now: Timestamp) {
    self.capacity = capacity
    self.perSecond = perSecond
    level = capacity
    updated = now
  }

  /// Takes an amount; false when there is less, and then nothing is taken.
  package mutating func take(_ amount: Double, now: Timestamp) -> Bool {
    if now > updated {
      level = min(capacity, level + (now - updated).seconds * perSecond)
      updated = now
    }
    guard level >= amount else { return false }
    level -= amount
    return true
  }
}
