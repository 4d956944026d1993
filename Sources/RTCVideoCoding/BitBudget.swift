package import RTCPrimitives

/// A leaky bucket: bits are added at the target rate, and frames remove them; savings are bounded, and so is the debt.
///
/// All bounds are times at the target rate, and follow it at once. On slow links they are short: savings would
/// otherwise leave as a burst that delays all later packets.
package struct BitBudget {
  /// Bits spent within this time are still in the network's queue when the rate falls.
  private static let recentSpan = TimeDelta.milliseconds(300)
  /// More than this of the rate, unsent, holds the next frames back.
  private static let toleratedBacklog = TimeDelta.milliseconds(120)

  /// Unsent bytes, beyond the last frame, replace savings: the first part of them is free, and the rest counts by this
  /// factor. A standing queue delays every frame, and slightly smaller frames end it.
  private static let (freeBacklog, backlogWeight) = (TimeDelta.milliseconds(20), 2.0)

  /// A new rate below this share of the old means that the bandwidth has fallen.
  private static let realFall = 0.8

  /// The target rate.
  package private(set) var rate: BitRate
  /// Bytes that may be spent; negative after a frame that cost more, or while too much waits unsent.
  package var credit: Double { min(saved, room) }
  private var saved: Double
  /// The capacity less the unsent bytes, at the last refill.
  private var room = Double.infinity
  private var updated: Timestamp?
  /// Bytes spent within `recentSpan` of the last frame.
  private var recent: [(time: Timestamp, bytes: Int)] = []
  /// The rate fell since the last refill.
  private var hasFallen = false
  /// The time at which all earlier frames will have been sent, as the owner set it.
  package var drained = Timestamp.zero

  /// Saved up from the first.
  package init(rate: BitRate) {
    self.rate = rate
    saved = 0
    saved = capacity
  }

  /// The most that can be saved, in bytes.
  package var capacity: Double {
    Double(rate.bytes(in: Self.between(rate, slow: .milliseconds(150), fast: .milliseconds(500))))
  }

  /// The maximum size of the first picture of new content, in bytes: 200 ms of a slow link, 400 ms of a fast one.
  package var firstPicture: Double {
    let time = Self.between(rate, slow: .milliseconds(200), fast: .milliseconds(400))
    // Debts and waiting bytes have priority.
    return max(Double(rate.bytes(in: time)) + min(0, credit), Double(rate.bytes(in: .milliseconds(80))))
  }

  /// The maximum delay for a debt: 400 ms, or up to 1 s at rates below 500 kbit/s, where even the coarsest picture
  /// takes longer.
  private var debtLimit: Double {
    Double(rate.bytes(in: .milliseconds(max(400, min(1000, 200_000_000 / max(1, rate.bitsPerSecond))))))
  }

  /// True on links where one sharp picture takes so long that a coarse one has to come first.
  package var isSlow: Bool { rate < .kilobitsPerSecond(4500) }

  /// `slow` up to 3 Mbit/s, `fast` from 6 Mbit/s on, and evenly between.
  private static func between(_ rate: BitRate, slow: TimeDelta, fast: TimeDelta) -> TimeDelta {
    let position = max(0, min(1, (Double(rate.bitsPerSecond) / 1e6 - 3) / 3))
    return slow + .seconds((fast - slow).seconds * position)
  }

  /// Follows a fall at once: savings shrink with the rate, and at the next refill the excess of recent frames over the
  /// new rate becomes a debt.
  package mutating func setRate(_ new: BitRate) {
    guard new != rate else { return }
    if new < rate {
      if saved > 0 { saved *= Double(new.bitsPerSecond) / Double(max(1, rate.bitsPerSecond)) }
      // An estimate wavers; savings are not to be lost to that.
      if Double(new.bitsPerSecond) < Self.realFall * Double(rate.bitsPerSecond) { hasFallen = true }
    }
    rate = new
    saved = min(saved, capacity)
  }

  /// Brings the account up to `now`; nothing happens for times before the last.
  package mutating func refill(now: Timestamp) {
    if let updated, now > updated { saved = min(capacity, saved + Double(rate.bytes(in: now - updated))) }
    updated = max(now, updated ?? now)
    let waiting = max(.zero, drained - now - Self.freeBacklog)
    room = waiting > .zero ? capacity - Self.backlogWeight * Double(rate.bytes(in: waiting)) : .infinity
    guard hasFallen else { return }
    hasFallen = false
    let spent = recent.reduce(0) { $0 + ($1.time > now - Self.recentSpan ? $1.bytes : 0) }
    let excess = Double(spent - rate.bytes(in: Self.recentSpan))
    saved = max(min(saved, -excess), -debtLimit)
  }

  /// Takes a frame into account that was made now.
  package mutating func spend(_ bytes: Int, now: Timestamp) {
    saved = max(saved - Double(bytes), -debtLimit)
    recent.removeAll { $0.time <= now - Self.recentSpan }
    recent.append((now, bytes))
  }

  /// Until when changes are held back for what waits unsent; refinement waits until `drained`.
  package var clearTime: Timestamp { drained - Self.toleratedBacklog }

  /// When `bytes` will be there if nothing is spent; never before `now`. More than the capacity is never waited for.
  package func time(of bytes: Double, now: Timestamp) -> Timestamp {
    let missing = min(bytes, capacity * 0.9) - credit
    return missing <= 0 ? now : now + rate.time(forBytes: Int(missing.rounded(.up)))
  }
}
