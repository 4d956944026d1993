import RTCPrimitives

/// How often each network does something: so much at once and so much a second for long.
struct NetworkRates {
  private let burst: Double
  private let perSecond: Double
  private var buckets = NetworkTable<TokenBucket>()

  init(burst: Double, perSecond: Double) { (self.burst, self.perSecond) = (burst, perSecond) }

  /// Counts one; false when the network has done it too often. This machine itself is not counted: proxies on it stand for many.
  mutating func take(_ network: ClientNetwork, now: Timestamp) -> Bool {
    guard !network.isLoopback else { return true }
    var bucket = buckets[network] ?? TokenBucket(capacity: burst, perSecond: perSecond, now: now)
    let isTaken = bucket.take(1, now: now)
    buckets.update(network, bucket)
    return isTaken
  }
}
