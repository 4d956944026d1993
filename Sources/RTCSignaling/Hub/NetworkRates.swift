import RTCPrimitives

/// How often each network does something: so much at once and so much a second for long.
struct NetworkRates {
  /// Networks that are remembered; with more the oldest is forgotten.
  static let networks = 4_096

  private let burst: Double
  private let perSecond: Double
  private var buckets: [ClientNetwork: TokenBucket] = [:]
  /// In the order they came, from `oldest` on.
  private var order: [ClientNetwork] = []
  private var oldest = 0

  init(burst: Double, perSecond: Double) { (self.burst, self.perSecond) = (burst, perSecond) }

  /// Counts one; false when the network has done it too often. This machine itself is not counted: proxies on it stand for many.
  mutating func take(_ network: ClientNetwork, now: Timestamp) -> Bool {
    guard !network.isLoopback else { return true }
    var bucket = buckets[network] ?? TokenBucket(capacity: burst, perSecond: perSecond, now: now)
    let isTaken = bucket.take(1, now: now)
    if buckets.updateValue(bucket, forKey: network) == nil { remember(network) }
    return isTaken
  }

  private mutating func remember(_ network: ClientNetwork) {
    order.append(network)
    guard buckets.count > Self.networks else { return }
    buckets[order[oldest]] = nil
    oldest += 1
    guard oldest > Self.networks else { return }
    order.removeFirst(oldest)
    oldest = 0
  }
}
