import RTCPrimitives

/// Lowers the rate when feedback stays away although packets are sent, and when the round trip is absurd; brings the rate
/// back when feedback does.
struct FeedbackWatch {
  /// Silence beyond a round trip that is borne.
  static let patience = TimeDelta.milliseconds(500)
  /// The factor of the rate, each time.
  private static let decrease = 0.5
  /// The share of the earlier rate when feedback returns.
  private static let restored = 0.75
  /// Round trips beyond this lower the rate.
  private static let longestRoundTrip = TimeDelta.seconds(3)
  private static let roundTripDecrease = 0.8
  private static let roundTripInterval = TimeDelta.seconds(1)
  /// Packets are sent when one left within this time.
  private static let sending = TimeDelta.milliseconds(300)

  /// Since when packets have been under way that no feedback speaks of; nil while there are none.
  private var waitingSince: Timestamp?
  /// Bits per second before feedback stayed away.
  private var rateBefore: Double?
  private var lastRoundTripDecrease = Timestamp.zero

  /// Feedback has come. Returns the rate to go back to, when it had been missing.
  mutating func feedbackReceived(inFlight: Int, _ now: Timestamp) -> Double? {
    waitingSince = inFlight > 0 ? now : nil
    defer { rateBefore = nil }
    return rateBefore.map { $0 * Self.restored }
  }

  /// - Returns: the lower rate, when feedback is overdue.
  mutating func check(
    _ activity: SendActivity, rate: Double, roundTrip: TimeDelta, _ now: Timestamp
  ) -> Double? {
    guard activity.inFlight > 0 else {
      waitingSince = nil
      return nil
    }
    guard let since = waitingSince else {
      waitingSince = now
      return nil
    }
    let isSending = now - activity.lastSent < Self.sending || activity.queued > 0
    guard isSending, now - since > roundTrip + Self.patience else { return nil }
    waitingSince = now - roundTrip
    if rateBefore == nil { rateBefore = rate }
    return rate * Self.decrease
  }

  /// - Returns: the lower rate, when the round trip is too long.
  mutating func check(roundTrip: TimeDelta?, rate: Double, _ now: Timestamp) -> Double? {
    guard let roundTrip, roundTrip > Self.longestRoundTrip, now - lastRoundTripDecrease >= Self.roundTripInterval
    else { return nil }
    lastRoundTripDecrease = now
    return rate * Self.roundTripDecrease
  }

  mutating func reset() { self = FeedbackWatch() }
}
