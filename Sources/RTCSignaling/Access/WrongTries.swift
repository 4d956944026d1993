import RTCPrimitives

/// Slows down who guesses: each network (`ClientNetwork`) may be wrong ten times at once and then once in two seconds. What others show is
/// not slowed.
struct WrongTries: Sendable {
  /// Wrong tries at once, and seconds for one to be forgotten.
  static let burst = 10.0
  static let secondsEach = 2.0
  /// Networks that are remembered; with more the oldest is forgotten.
  static let networks = 4_096

  private var buckets: [ClientNetwork: TokenBucket] = [:]
  /// In the order they came.
  private var order: [ClientNetwork] = []
  private var oldest = 0

  /// Whole seconds until something from there is looked at again; nil: now.
  func wait(_ address: String, now: Timestamp) -> Int? {
    guard var bucket = buckets[ClientNetwork(address)], !bucket.take(1, now: now) else { return nil }
    return Int(Self.secondsEach)
  }

  mutating func note(_ address: String, now: Timestamp) {
    let network = ClientNetwork(address)
    var bucket = buckets[network] ?? TokenBucket(capacity: Self.burst, perSecond: 1 / Self.secondsEach, now: now)
    _ = bucket.take(1, now: now)
    if buckets.updateValue(bucket, forKey: network) == nil { order.append(network) }
    guard buckets.count > Self.networks else { return }
    buckets[order[oldest]] = nil
    oldest += 1
    guard oldest > Self.networks else { return }
    order.removeFirst(oldest)
    oldest = 0
  }
}
