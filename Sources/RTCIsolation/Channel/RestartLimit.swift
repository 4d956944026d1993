package import RTCPrimitives

/// How often a child process is started again: at most five times in any minute. A pure value.
package struct RestartLimit {
  package static let most = 5
  private static let window = TimeDelta.seconds(60)
  private var recent: [Timestamp] = []

  package init() {}

  /// True, and counted, when one more restart is within the limit. `now` never goes backwards.
  package mutating func allows(at now: Timestamp) -> Bool {
    recent.removeAll { now - $0 >= Self.window }
    guard recent.count < Self.most else { return false }
    recent.append(now)
    return true
  }

  /// True when one more restart would be within the limit.
  package func hasRoom(at now: Timestamp) -> Bool { recent.count { now - $0 < Self.window } < Self.most }

  /// Restarts in the last minute.
  package var count: Int { recent.count }
}
