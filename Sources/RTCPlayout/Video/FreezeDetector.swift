package import RTCPrimitives

/// Finds the moments at which a video stood still, by libwebrtc's definition: the time between two pictures shown is at
/// least three times the average of the last thirty, and at least 150 ms above it. (W3C webrtc-stats, `freezeCount`.)
package struct FreezeDetector: Sendable {
  private static let windowSize = 30
  /// With fewer times than this nothing can be said.
  private static let minimumCount = 5
  private static let leastExcess: Int64 = 150

  package private(set) var freezes = 0
  /// The time between the pictures before and after each freeze, summed up.
  package private(set) var frozen = TimeDelta.zero

  /// In milliseconds, rounded down.
  private var intervals: [Int64] = []
  private var lastShown: Timestamp?

  package init() {}

  /// Notes that a picture is shown.
  /// - Returns: true when the video stood still before it.
  @discardableResult
  package mutating func noteShown(at time: Timestamp) -> Bool {
    defer { lastShown = time }
    guard let lastShown, time >= lastShown else { return false }
    let interval = time - lastShown
    intervals.append(interval.milliseconds)
    if intervals.count > Self.windowSize { intervals.removeFirst() }
    guard intervals.count >= Self.minimumCount else { return false }
    let average = intervals.reduce(0, +) / Int64(intervals.count)
    guard interval.milliseconds >= max(3 * average, average + Self.leastExcess) else { return false }
    freezes += 1
    frozen = frozen + interval
    return true
  }

  /// The video is paused, or its sender muted it: the time until the next picture is no freeze.
  package mutating func notePause() { lastShown = nil }
}
