package import RTCPrimitives

/// The time at which the source's next picture is expected. A machine without clock.
///
/// A screen that changes faster than it is captured is never at rest, although no picture comes for a while: the next
/// change waits for its turn. Such a source announces its next picture as soon as it knows of a change. Before the
/// announcement, the forecast expects it to come as soon after the last picture as the one before came.
package struct PictureForecast: Hashable, Sendable {
  /// An announced picture may come so much later than announced.
  private static let lateness = TimeDelta.milliseconds(10)
  /// An announcement may come so much later than the one before, beside a half of its lead.
  private static let slack = TimeDelta.milliseconds(5)
  /// A change that comes later than this after a picture does not belong to a steady movement.
  private static let longestLead = TimeDelta.milliseconds(120)

  /// When the picture that was announced comes; nil while none is announced.
  private var announced: Timestamp?
  /// When the last picture came.
  private var lastPicture: Timestamp?
  /// The time from a picture to the announcement of the next, as it was last; nil when that came unannounced.
  private var lead: TimeDelta?
  /// The time from that picture to the next.
  private var interval: TimeDelta?

  /// A source that has announced nothing.
  package init() {}

  /// Takes note of an announcement.
  ///
  /// - Parameter time: when the picture comes.
  package mutating func announce(_ time: Timestamp, now: Timestamp) {
    let isNew = announced.map { now >= $0 + Self.lateness } ?? true
    if isNew, let lastPicture {
      let passed = now - lastPicture
      lead = passed <= Self.longestLead ? passed : nil
      interval = time - lastPicture
    }
    announced = time
  }

  /// Takes note of a picture, announced or not.
  package mutating func notePicture(now: Timestamp) {
    if announced == nil { (lead, interval) = (nil, nil) }
    announced = nil
    lastPicture = now
  }

  /// The time by which the next picture has come, as far as that is known; nil: none is expected.
  package func nextPicture(now: Timestamp) -> Timestamp? {
    if let announced { return now < announced + Self.lateness ? announced + Self.lateness : nil }
    guard let end = expectationEnd, now < end, let lastPicture, let interval else { return nil }
    return max(end, lastPicture + interval)
  }

  /// The time at which the next picture is no longer expected, unless it is announced before; nil: it was, or is not expected.
  package func lapse(now: Timestamp) -> Timestamp? {
    guard announced == nil, let end = expectationEnd, now < end else { return nil }
    return end
  }

  private var expectationEnd: Timestamp? {
    guard let lastPicture, let lead else { return nil }
    return lastPicture + lead + lead / 2 + Self.slack
  }
}
