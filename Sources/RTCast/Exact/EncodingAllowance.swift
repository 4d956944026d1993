import RTCPrimitives

/// How much of one core's time may be spent on work that can wait: a share, and some in advance.
struct EncodingAllowance {
  /// Of one core's time.
  private let share: Double
  /// Time spent beyond the share.
  private var debt = TimeDelta.zero
  private var updated = Timestamp.zero

  /// A first picture is not kept waiting.
  private static let advance = TimeDelta.milliseconds(300)

  init(share: Double) { self.share = min(1, max(0.01, share)) }

  /// Work of `time` ended now.
  mutating func note(_ time: TimeDelta, now: Timestamp) {
    let earned = TimeDelta.seconds((now - updated).seconds * share)
    debt = max(.zero, debt - earned) + time
    updated = now
  }

  /// When there may be more of it.
  var nextTurn: Timestamp {
    debt <= Self.advance ? .zero : updated + .seconds((debt - Self.advance).seconds / share)
  }
}
