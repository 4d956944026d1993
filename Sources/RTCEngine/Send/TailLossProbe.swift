package import RTCPrimitives

/// Watches the last packets of a stream. A receiver detects a missing packet when a later one arrives; after the last
/// one of a picture that may take long. Packets without feedback are therefore sent again, as TCP does (RFC 8985 §7).
package struct TailLossProbe {
  /// Feedback comes every 50…250 ms, as the remote peer sees fit.
  private static let feedbackPatience = TimeDelta.milliseconds(300)
  private static let maximumAttempts = 3

  /// When to look whether the last packets arrived.
  package private(set) var nextDeadline = Timestamp.distantFuture
  /// The number of retransmissions without an effect.
  package private(set) var attempts = 0
  /// When the last packet that is watched over was sent.
  package private(set) var watched = Timestamp.zero

  package init() {}

  /// Begins to watch.
  /// - Parameters:
  ///   - lastSent: when the last packet left.
  ///   - attempt: how often it was sent again so far.
  ///   - hasFeedback: without any, silence says nothing.
  package mutating func arm(
    lastSent: Timestamp, attempt: Int, now: Timestamp, roundTrip: TimeDelta, hasFeedback: Bool
  ) {
    attempts = attempt
    watched = lastSent
    nextDeadline = .distantFuture
    guard hasFeedback, attempt < Self.maximumAttempts else { return }
    nextDeadline = now + (roundTrip + Self.feedbackPatience) * Int64(1 << attempt)
  }

  package mutating func disarm() { nextDeadline = .distantFuture }
}
