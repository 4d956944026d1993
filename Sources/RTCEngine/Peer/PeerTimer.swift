import RTCPrimitives

/// The reasons a peer may want to be woken (STYLE: deadlines are a table of named timers).
package enum PeerTimer: Int, CaseIterable, Sendable {
  /// ICE checks, consent, keep-alive.
  case ice
  /// DTLS retransmission.
  case dtls
  /// The pacer may send its next packet.
  case pacer
  /// Sender and receiver reports.
  case report
  /// The loss-stepped bitrate rule.
  case bitrate
  /// Missing packets are asked for again, or given up.
  case repair
  /// Transport-wide feedback to the sender.
  case feedback
  /// Connecting takes too long.
  case connect
}

/// One deadline per reason; a deadline of `.distantFuture` is not set.
struct TimerTable {
  private var deadlines = InlineArray<8, Timestamp>(repeating: .distantFuture)

  subscript(_ timer: PeerTimer) -> Timestamp {
    get { deadlines[timer.rawValue] }
    set { deadlines[timer.rawValue] = newValue }
  }

  /// Sets `timer` no later than `deadline`.
  mutating func advance(_ timer: PeerTimer, to deadline: Timestamp) {
    if deadline < self[timer] { self[timer] = deadline }
  }

  /// The earliest deadline and whose it is.
  var next: (time: Timestamp, timer: PeerTimer)? {
    var best: (time: Timestamp, timer: PeerTimer)?
    for timer in PeerTimer.allCases where self[timer] < (best?.time ?? .distantFuture) {
      best = (self[timer], timer)
    }
    return best
  }

  /// Clears and returns the first timer that is due at `now`, or nil when none is.
  mutating func popDue(_ now: Timestamp) -> PeerTimer? {
    guard let (time, timer) = next, time <= now else { return nil }
    self[timer] = .distantFuture
    return timer
  }
}
