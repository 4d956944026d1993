import RTCPrimitives

/// How much longer packets are on their way than the fastest of the last time: what stands in queues. Unlike a trend it
/// is absolute, and knows after a rest what it knew before.
///
/// The fastest is looked for among the last buckets of activity. A rest fills none, so that it takes nothing away; since
/// the two clocks drift apart meanwhile, an old minimum counts for less with its age.
struct QueueingDelay {
  private struct Bucket {
    var minimum = Int64.max
    /// When it was seen.
    var time = Timestamp.zero
  }

  private static let buckets = 10
  private static let bucketTime = TimeDelta.seconds(3)
  /// No gap between packets counts for more activity than this.
  private static let longestGap = TimeDelta.milliseconds(200)
  /// What clocks may drift apart: 100 ppm, as nanoseconds in 10 µs.
  private static let driftInterval: Int64 = 10_000

  private var ring = [Bucket](repeating: Bucket(), count: Self.buckets)
  private var current = 0
  private var filled = TimeDelta.zero
  private var lastSent: Int64?

  mutating func add(_ arrival: RecentArrivals.Arrival, now: Timestamp) {
    if let lastSent, arrival.sent > lastSent {
      filled = filled + min(TimeDelta(nanoseconds: arrival.sent &- lastSent), Self.longestGap)
      if filled >= Self.bucketTime {
        filled = .zero
        current = (current + 1) % Self.buckets
        ring[current] = Bucket()
      }
    }
    lastSent = max(lastSent ?? arrival.sent, arrival.sent)
    if arrival.transit < aged(ring[current], now) { ring[current] = Bucket(minimum: arrival.transit, time: now) }
  }

  private func aged(_ bucket: Bucket, _ now: Timestamp) -> Int64 {
    let (sum, overflow) = bucket.minimum.addingReportingOverflow(
      max(0, (now - bucket.time).nanoseconds) / Self.driftInterval)
    return overflow ? .max : sum
  }

  /// The transit time of a packet that no queue held up; nil before the first.
  func base(_ now: Timestamp) -> Int64? {
    var base = Int64.max
    for bucket in ring { base = min(base, aged(bucket, now)) }
    return base == .max ? nil : base
  }

  /// What a transit time has in queues.
  func delay(of transit: Int64, now: Timestamp) -> TimeDelta? {
    base(now).map { TimeDelta(nanoseconds: max(0, transit &- $0)) }
  }

  /// The path itself has become longer: this is the time of a packet that no queue holds up.
  mutating func setBase(_ transit: Int64, now: Timestamp) {
    reset()
    ring[current] = Bucket(minimum: transit, time: now)
  }

  mutating func reset() {
    for index in ring.indices { ring[index] = Bucket() }
    filled = .zero
    lastSent = nil
  }
}
