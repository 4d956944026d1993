package import RTCPrimitives

/// The two clocks that access goes by.
package struct AccessTime: Sendable, Hashable {
  /// Seconds since 1970: for the ends of links.
  package var unix: Int64
  /// Monotonic time, for rate limits.
  package var monotonic: Timestamp

  package init(unix: Int64, monotonic: Timestamp) {
    self.unix = unix
    self.monotonic = monotonic
  }
}
