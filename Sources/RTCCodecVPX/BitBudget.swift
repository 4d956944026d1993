import RTCPrimitives

/// A leaky bucket: bits come in at the target rate, frames take them out; what is saved is bounded, and so is the debt.
struct BitBudget {
  /// Savings and debts at most, as time at the target rate.
  static let depth = TimeDelta.milliseconds(500)
  static let debtDepth = TimeDelta.milliseconds(1500)

  private(set) var rate: BitRate
  /// Bytes that may be spent; negative after a frame that cost more.
  private(set) var credit: Double
  private var updated: Timestamp?

  init(rate: BitRate) {
    self.rate = rate
    credit = Double(rate.bytes(in: Self.depth))
  }

  var capacity: Double { Double(rate.bytes(in: Self.depth)) }

  mutating func setRate(_ new: BitRate) {
    rate = new
    credit = min(credit, capacity)
  }

  mutating func refill(now: Timestamp) {
    if let updated, now > updated { credit = min(capacity, credit + Double(rate.bytes(in: now - updated))) }
    updated = max(now, updated ?? now)
  }

  mutating func spend(_ bytes: Int) {
    credit = max(credit - Double(bytes), -Double(rate.bytes(in: Self.debtDepth)))
  }

  /// When `bytes` will be there if nothing is spent; never before `now`. More than the capacity is never waited for.
  func time(of bytes: Double, now: Timestamp) -> Timestamp {
    let missing = min(bytes, capacity * 0.9) - credit
    return missing <= 0 ? now : now + rate.time(forBytes: Int(missing.rounded(.up)))
  }
}
