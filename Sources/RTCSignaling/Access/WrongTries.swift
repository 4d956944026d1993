import RTCPrimitives

/// Limits guessing: each network (`ClientNetwork`) may send ten wrong credentials at once and then one every two
/// seconds. Other networks are not affected.
struct WrongTries: Sendable {
  /// Wrong tries at once, and seconds for one to be forgotten.
  static let burst = 10.0
  static let secondsEach = 2.0
  /// The number of tries per second that are checked all the same if the secret could be guessed: enough for all
  /// clients with the right secret behind one address, and too few to guess six letters within a year.
  static let looksPerSecond = 5.0
  static let looks = 10.0

  private struct Tries {
    var wrong: TokenBucket
    var looks: TokenBucket
  }

  private var buckets = NetworkTable<Tries>()

  /// Whole seconds until something wrong from there counts as the first again; nil: it does now.
  func wait(_ address: String, now: Timestamp) -> Int? {
    guard var bucket = buckets[ClientNetwork(address)]?.wrong, !bucket.take(1, now: now) else { return nil }
    return Int(Self.secondsEach)
  }

  /// Whether one more try from a network that has to wait is looked at.
  mutating func mayLook(_ address: String, now: Timestamp) -> Bool {
    let network = ClientNetwork(address)
    guard var tries = buckets[network] else { return true }
    defer { buckets.update(network, tries) }
    return tries.looks.take(1, now: now)
  }

  mutating func note(_ address: String, now: Timestamp) {
    let network = ClientNetwork(address)
    var bucket =
      buckets[network]
      ?? Tries(
        wrong: TokenBucket(capacity: Self.burst, perSecond: 1 / Self.secondsEach, now: now),
        looks: TokenBucket(capacity: Self.looks, perSecond: Self.looksPerSecond, now: now))
    _ = bucket.wrong.take(1, now: now)
    buckets.update(network, bucket)
  }
}
