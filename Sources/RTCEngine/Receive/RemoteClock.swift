package import RTCPrimitives

/// A far sender's wall clock as told from a stream's timestamps: its last report, and the nominal rate from there.
package struct RemoteClock: Sendable {
  private let rate: Int64
  private var last: SenderClock?

  package init(rate: Int64) { self.rate = rate }

  package mutating func note(_ clock: SenderClock) { last = clock }

  /// The sender's wall time at `timestamp`, since 1900 and wrapped with its format; nil before the first report.
  package func wallTime(of timestamp: RTPTimestamp) -> TimeDelta? {
    guard let last else { return nil }
    let ticks = Int64(timestamp.distance(from: last.rtpTime))
    let seconds = Int64(last.ntpTime.value >> 32)
    let fraction = Int64(((last.ntpTime.value & 0xFFFF_FFFF) * 1_000_000_000) >> 32)
    return .nanoseconds(seconds * 1_000_000_000 + fraction + ticks * 1_000_000_000 / rate)
  }
}
