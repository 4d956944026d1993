package import RTCPrimitives

/// When a hard search for a movement is worth its time again, after searches that found next to nothing. A machine
/// without clock.
package struct SearchHistory {
  /// The pause after the first vain search. A hard search takes four to six times a usual picture's time, so each
  /// further one doubles the pause, up to the longest.
  private static let (firstPause, longestPause) = (TimeDelta.seconds(Int64(3)), TimeDelta.seconds(Int64(48)))

  /// The time of the last vain search; nil when a search has found something since, or when the movement is over.
  private var lastVain: Timestamp?
  private var pause = firstPause

  /// A history without searches.
  package init() {}

  /// Whether the last hard search was vain: each step of the movement is new.
  package var isVain: Bool { lastVain != nil }

  /// Whether a hard search may be made.
  package func mayTry(_ now: Timestamp) -> Bool { lastVain.map { now - $0 >= pause } ?? true }

  /// Records that a search found something, or that another movement begins.
  package mutating func reset() { self = SearchHistory() }

  /// Records that a hard search found next to nothing.
  package mutating func noteVain(now: Timestamp) {
    if isVain { pause = min(pause * Int64(2), Self.longestPause) }
    lastVain = now
  }
}
