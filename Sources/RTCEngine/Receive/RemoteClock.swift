package import RTCPrimitives

/// A remote sender's wall clock, from a stream's timestamps: its last report, and the nominal rate from there (RFC 3550
/// §6.4.1).
package struct RemoteClock: Sendable {
  private let rate: Int64
  private var last: SenderClock?

  /// - Parameter rate: of the timestamps, in hertz.
  package init(rate: Int64) { self.rate = rate }

  /// Takes a sender report of the stream.
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
