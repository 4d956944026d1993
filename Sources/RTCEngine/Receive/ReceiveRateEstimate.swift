package import RTCPrimitives

/// A bandwidth estimate for senders without transport-wide feedback (REMB).
///
/// It is simple: without signs of congestion it allows 1.5 times the rate of the last second, and never less than
/// before, so that a still picture costs nothing later. If all pictures of a second arrive later than the fastest of
/// the last ten seconds, or many packets are lost, it falls below the received rate and rises slowly for some seconds.
/// It ignores single bursts and other streams on the path. Transport-wide feedback, where the sender estimates, is
/// better and is preferred.
package struct ReceiveRateEstimate {
  package static let interval = TimeDelta.seconds(1)
  package static let lowest = BitRate(bitsPerSecond: 100_000)
  package static let highest = BitRate(bitsPerSecond: 50_000_000)
  /// The standing delay that counts as a queue.
  package static let queueDelay = TimeDelta.milliseconds(60)
  private static let caution = TimeDelta.seconds(8)
  /// With fewer pictures in a second their delay says nothing.
  private static let leastPictures = 5

  package private(set) var current: BitRate?
  private var bytes = 0
  private var since: Timestamp?
  /// Since when the path was last full.
  private var congested: Timestamp?
  /// The picture whose first packet came last, and its place in time.
  private var newest: Extended<RTPTimestamp>?
  /// The smallest transits of this and the last few seconds, the newest last.
  private var smallest: [TimeDelta] = []
  private var smallestNow: TimeDelta?
  private var pictures = 0

  package init() {}

  /// Counts a packet.
  package mutating func add(_ byteCount: Int, timestamp: RTPTimestamp, now: Timestamp) {
    if since == nil { since = now }
    bytes += byteCount
    let place = newest?.nearest(timestamp) ?? Extended(Int64(timestamp.value))
    guard newest.map({ place > $0 }) ?? true else { return }
    if let newest, place.value - newest.value > 90_000 * 10 { smallest = [] }
    newest = place
    // Only the first packet of a picture: the others queue behind it.
    let transit = (now - Timestamp.zero) - .nanoseconds(place.value &* 100_000 / 9)
    smallestNow = min(smallestNow ?? transit, transit)
    pictures += 1
  }

  /// Closes a second, when one is over.
  /// - Parameter fractionLost: of the packets since the last call, 0…1.
  /// - Returns: the estimate, nil before the first.
  package mutating func update(_ now: Timestamp, fractionLost: Double) -> BitRate? {
    guard let begun = since, now - begun >= Self.interval else { return current }
    let received = BitRate(bitsPerSecond: Int64(Double(bytes * 8) / (now - begun).seconds))
    let isFull = fractionLost > 0.1 || isQueueStanding
    remember()
    (bytes, pictures, since) = (0, 0, now)
    if isFull, received > BitRate.zero {
      congested = now
      current = bounded(min(current ?? received, received).scaled(by: 0.85))
    } else if received > BitRate.zero {
      let allowed = received.scaled(by: 1.5)
      guard let before = current else {
        current = bounded(allowed)
        return current
      }
      let isCautious = congested.map { now - $0 < Self.caution } ?? false
      current = bounded(isCautious ? max(before, min(allowed, before.scaled(by: 1.08))) : max(before, allowed))
    }
    return current
  }

  private var isQueueStanding: Bool {
    guard pictures >= Self.leastPictures, let smallestNow, let fastest = smallest.min() else { return false }
    return smallestNow - fastest > Self.queueDelay
  }

  private mutating func remember() {
    if let smallestNow { smallest.append(smallestNow) }
    if smallest.count > 10 { smallest.removeFirst() }
    smallestNow = nil
  }

  private func bounded(_ rate: BitRate) -> BitRate { max(Self.lowest, min(Self.highest, rate)) }
}
