package import RTCPrimitives

/// The reasons a peer may want to be woken (STYLE: deadlines are a table of named timers).
package enum PeerTimer: Int, CaseIterable, Sendable {
  /// ICE checks, consent, keep-alive.
  case ice
  /// DTLS retransmission.
  case dtls
  /// The pacer may send its next packets.
  case pacer
  /// Sender and receiver reports.
  case report
  /// The loss-stepped bitrate rule.
  case bitrate
  /// Missing packets or a key frame are asked for again, or given up.
  case repair
  /// Transport-wide feedback to the sender.
  case feedback
  /// Connecting takes too long.
  case connect
  /// The last packets sent may be lost without the viewer's knowing.
  case tail
  /// A source may be asked for another key frame.
  case keyFrame
  /// SCTP: retransmissions, delayed acknowledgements, heartbeats.
  case dataChannels
}

/// One deadline per reason; a deadline of `.distantFuture` is not set.
package struct TimerTable {
  private var deadlines = InlineArray<11, Timestamp>(repeating: .distantFuture)

  package init() {}

  package subscript(_ timer: PeerTimer) -> Timestamp {
    get { deadlines[timer.rawValue] }
    set { deadlines[timer.rawValue] = newValue }
  }

  /// Sets `timer` no later than `deadline`.
  package mutating func advance(_ timer: PeerTimer, to deadline: Timestamp) {
    if deadline < self[timer] { self[timer] = deadline }
  }

  /// The earliest deadline and whose it is; the first in declaration order when several are due together.
  package var next: (time: Timestamp, timer: PeerTimer)? {
    var best = 0
    for index in 1..<deadlines.count where deadlines[index] < deadlines[best] { best = index }
    guard deadlines[best] < .distantFuture, let timer = PeerTimer(rawValue: best) else { return nil }
    return (deadlines[best], timer)
  }

  /// Clears and returns the first timer that is due at `now`, or nil when none is.
  package mutating func popDue(_ now: Timestamp) -> PeerTimer? {
    guard let (time, timer) = next, time <= now else { return nil }
    self[timer] = .distantFuture
    return timer
  }
}
