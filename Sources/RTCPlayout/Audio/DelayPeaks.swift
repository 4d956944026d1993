import RTCPrimitives

/// Notices delays that stand out again and again, too rare for a quantile to show: a radio that looks for other channels,
/// a neighbour's backup.
struct DelayPeaks: Sendable {
  private struct Peak {
    var height: TimeDelta
    var end: Timestamp
  }

  /// Oldest first.
  private var peaks: [Peak] = []

  /// Packets this far above the usual make a peak.
  static let prominence = TimeDelta.milliseconds(30)
  /// Packets no further apart than this are of one peak.
  static let separation = TimeDelta.milliseconds(300)
  /// Only peaks of so long count, and only when there are at least `minimumCount`.
  static let memory = TimeDelta.seconds(15)
  static let minimumCount = 3
  private static let maximumCount = 16

  /// Records a packet `delay` later than the fastest, where `usual` is expected.
  mutating func note(_ delay: TimeDelta, usual: TimeDelta, at time: Timestamp) {
    peaks.removeAll { time - $0.end > Self.memory }
    guard delay > usual + Self.prominence else { return }
    if let last = peaks.last, time - last.end < Self.separation {
      peaks[peaks.count - 1] = Peak(height: max(last.height, delay), end: max(last.end, time))
    } else {
      if peaks.count >= Self.maximumCount { peaks.removeFirst() }
      peaks.append(Peak(height: delay, end: time))
    }
  }

  /// The second highest of the peaks that keep coming, as a single one may be chance; nil while none do.
  var height: TimeDelta? {
    guard peaks.count >= Self.minimumCount else { return nil }
    return peaks.map(\.height).sorted()[peaks.count - 2]
  }
}
