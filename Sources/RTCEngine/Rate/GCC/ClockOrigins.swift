import RTCPrimitives

/// The origins of send and arrival times: those of one packet.
struct ClockOrigins {
  /// The maximum change of transit time from one packet to the next. A larger one means that the remote peer's clock
  /// was set, its times wrapped, or they are forged.
  private static let largestStep: UInt64 = 10_000_000_000

  private var sent = Timestamp.zero
  private var arrived = TimeDelta.zero
  private var lastTransit: Int64?

  /// False for the first packet, and if the clocks cannot be the same as those of the packet before.
  func isPlausible(sent: Timestamp, arrived: TimeDelta) -> Bool {
    guard let lastTransit else { return false }
    return (transit(sent, arrived) &- lastTransit).magnitude < Self.largestStep
  }

  mutating func begin(sent: Timestamp, arrived: TimeDelta) {
    (self.sent, self.arrived) = (sent, arrived)
    lastTransit = 0
  }

  mutating func arrival(
    sent: Timestamp, arrived: TimeDelta, size: Int, _ expected: ExpectedDelay.Delay
  ) -> RecentArrivals.Arrival {
    lastTransit = transit(sent, arrived)
    return RecentArrivals.Arrival(
      sent: (sent - self.sent).nanoseconds, arrived: (arrived - self.arrived).nanoseconds, size: size,
      expected: expected.waiting, own: expected.own)
  }

  private func transit(_ sent: Timestamp, _ arrived: TimeDelta) -> Int64 {
    (arrived - self.arrived).nanoseconds &- (sent - self.sent).nanoseconds
  }
}
