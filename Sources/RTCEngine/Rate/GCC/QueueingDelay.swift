import RTCPrimitives

/// The queueing delay: the transit time of packets above the recent minimum. Unlike a trend it is absolute, and remains
/// valid after a pause.
///
/// The minimum is taken over the last buckets of activity. A pause fills no bucket, so it removes nothing; since the
/// two clocks drift meanwhile, an old minimum is discounted by its age.
struct QueueingDelay {
  /// The transit time of a packet that no queue held up, nanoseconds.
  struct Base {
    var transit: Int64
    /// The serialization time of the packet's own bits, at our rate.
    var own: Int64

    /// The queueing part of a transit time. Longer transit on a line that has become slower is not a queue.
    /// - Parameter bare: the transit time without the packet's own bits.
    func wait(_ transit: Int64, bare: Int64) -> TimeDelta {
      TimeDelta(nanoseconds: max(0, min(transit, bare &+ own) &- self.transit))
    }
  }

  private struct Bucket {
    var minimum = Int64.max
    var own = Int64.max
    /// When it was seen.
    var time = Timestamp.zero
  }

  /// Transit times that differ by no more are the same.
  private static let alike: Int64 = 1_000_000

  private static let buckets = 10
  private static let bucketTime = TimeDelta.seconds(3)
  /// No gap between packets counts for more activity than this.
  private static let longestGap = TimeDelta.milliseconds(200)
  /// The maximum drift between clocks: 100 ppm, as nanoseconds in 10 µs.
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
    let least = aged(ring[current], now)
    let isAlike = least != .max && (arrival.transit &- least).magnitude <= Self.alike
    if isAlike { ring[current].own = min(ring[current].own, arrival.own) }
    guard arrival.transit < least else { return }
    ring[current] = Bucket(
      minimum: arrival.transit, own: isAlike ? ring[current].own : arrival.own, time: now)
  }

  private func aged(_ bucket: Bucket, _ now: Timestamp) -> Int64 {
    let (sum, overflow) = bucket.minimum.addingReportingOverflow(
      max(0, (now - bucket.time).nanoseconds) / Self.driftInterval)
    return overflow ? .max : sum
  }

  /// Nil before the first packet.
  func base(_ now: Timestamp) -> Base? {
    var base = Base(transit: .max, own: 0)
    for bucket in ring {
      let transit = aged(bucket, now)
      if transit < base.transit { base = Base(transit: transit, own: bucket.own) }
    }
    return base.transit == .max ? nil : base
  }

  /// The path itself has become longer: this is the time of a packet that no queue holds up.
  mutating func setBase(_ base: Base, now: Timestamp) {
    reset()
    ring[current] = Bucket(minimum: base.transit, own: base.own, time: now)
  }

  mutating func reset() {
    for index in ring.indices { ring[index] = Bucket() }
    filled = .zero
    lastSent = nil
  }
}
