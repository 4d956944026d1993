package import RTCPrimitives

/// When a camera's key frames come, judged by the last two.
package struct KeyFramePace: Sendable {
  private var last: Timestamp?
  private var interval: TimeDelta?

  package init() {}

  package mutating func note(_ time: Timestamp) {
    interval = last.map { time - $0 }
    last = time
  }

  /// Nil while unknown: before the second, and when the next is late by half of the interval.
  package func timeToNext(_ now: Timestamp) -> TimeDelta? {
    guard let last, let interval, now - last < interval * 3 / 2 else { return nil }
    return max(.zero, last + interval - now)
  }
}
