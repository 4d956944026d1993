import RTCPrimitives

/// How long to wait for an acknowledgement (RFC 9260 §6.3, RFC 6298).
struct RTOEstimator {
  private static let initial = TimeDelta.milliseconds(500)
  /// Less than RFC 9260's second, as in libwebrtc: a call's round trips are known well.
  private static let minimum = TimeDelta.milliseconds(300)
  static let maximum = TimeDelta.seconds(10)
  /// Peers may hold an acknowledgement back for 200 ms.
  private static let minimumVariance = TimeDelta.milliseconds(220)

  /// Nil until something has been measured.
  private(set) var smoothedRoundTrip: TimeDelta?
  private var variance = TimeDelta.zero
  /// How often in a row the timer has run out; each time doubles it.
  private var backoff = 0

  /// The duration of the timer.
  var timeout: TimeDelta {
    guard let smoothed = smoothedRoundTrip else { return backedOff(Self.initial) }
    return backedOff(max(Self.minimum, smoothed + max(variance * 4, Self.minimumVariance)))
  }

  private func backedOff(_ time: TimeDelta) -> TimeDelta {
    min(Self.maximum, min(time, Self.maximum) * (1 << Int64(min(backoff, 10))))
  }

  mutating func measured(_ roundTrip: TimeDelta) {
    guard roundTrip >= .zero, roundTrip < .seconds(60) else { return }
    backoff = 0
    guard let smoothed = smoothedRoundTrip else {
      smoothedRoundTrip = roundTrip
      variance = roundTrip / 2
      return
    }
    let difference = max(smoothed - roundTrip, roundTrip - smoothed)
    variance = variance + (difference - variance) / 4
    smoothedRoundTrip = smoothed + (roundTrip - smoothed) / 8
  }

  mutating func timedOut() { backoff += 1 }
  /// Something new has been acknowledged, even if it measured nothing.
  mutating func progressed() { backoff = 0 }
}
