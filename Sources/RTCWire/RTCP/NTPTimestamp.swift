public import RTCPrimitives

/// Wall-clock time as RTCP carries it (RFC 3550 §4): seconds since 1900-01-01 00:00 UTC in 32.32 fixed point.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                            seconds                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           fraction                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct NTPTimestamp: Hashable, Sendable, BitwiseCopyable {
  /// The 64 bits on the wire: seconds in the upper half, their fraction in units of 2⁻³² s in the lower.
  public var value: UInt64

  /// The time with these 64 bits.
  public init(_ value: UInt64) { self.value = value }

  /// From a time since 1970-01-01 00:00 UTC; wraps in 2036 as the format does.
  public init(sinceUnixEpoch time: TimeDelta) {
    let second: Int64 = 1_000_000_000
    let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: second)
    let floored = rest < 0 ? seconds - 1 : seconds
    let nanoseconds = UInt64(rest < 0 ? rest + second : rest)
    let since1900 = UInt32(truncatingIfNeeded: floored + 2_208_988_800)
    value = UInt64(since1900) << 32 | (nanoseconds << 32) / UInt64(second)
  }

  /// The middle 32 bits (RFC 3550 §4), as report blocks refer to a sender report.
  public var compact: CompactNTPTimestamp { CompactNTPTimestamp(UInt32(truncatingIfNeeded: value >> 16)) }
}

/// The middle 32 bits of an NTP timestamp (RFC 3550 §4): seconds in 16.16 fixed point, wrapping every 18 hours.
public struct CompactNTPTimestamp: Hashable, Sendable, BitwiseCopyable {
  /// The 32 bits on the wire: seconds modulo 65,536 in the upper half, their fraction in units of 2⁻¹⁶ s in the lower.
  public var value: UInt32

  /// The time with these 32 bits.
  public init(_ value: UInt32) { self.value = value }

  /// The time from `earlier` to this one, within ±9 hours.
  public func since(_ earlier: CompactNTPTimestamp) -> TimeDelta {
    TimeDelta.nanoseconds((Int64(Int32(bitPattern: value &- earlier.value)) * 1_000_000_000) >> 16)
  }

  /// A length of time from its wire form: units of 1/65,536 s.
  static func interval(_ units: UInt32) -> TimeDelta {
    .nanoseconds((Int64(units) * 1_000_000_000 + 0x8000) >> 16)
  }

  /// The wire form of `interval`, clamped to 0…18 h.
  static func units(_ interval: TimeDelta) -> UInt32 {
    let clamped = max(0, min(interval.nanoseconds, 65_535_999_000_000))
    return UInt32(truncatingIfNeeded: ((clamped << 16) + 500_000_000) / 1_000_000_000)
  }
}
