package import RTCPrimitives

/// A warning that strangers can cause as often as they like: one line a minute, which says how many there were.
package struct RepeatedWarning: Sendable {
  package static let interval = TimeDelta.seconds(60)
  private var lastLine: Timestamp?
  private var count = 0

  package init() {}

  /// Counts one.
  /// - Returns: how many there were since the last line, this one included, when a line is due now; else nil.
  package mutating func note(_ now: Timestamp) -> Int? {
    count += 1
    if let lastLine, now - lastLine < Self.interval { return nil }
    defer { count = 0 }
    lastLine = now
    return count
  }
}
