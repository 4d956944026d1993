/// A moment on the monotonic clock, in nanoseconds since an arbitrary origin that is the same for the whole process
/// (`CLOCK_MONOTONIC` in production, zero at the start of a test on virtual time).
public struct Timestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// The moment so many nanoseconds after the clock's origin.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The clock's origin.
  public static let zero = Timestamp(nanoseconds: 0)
  /// Later than every real moment: "never".
  public static let distantFuture = Timestamp(nanoseconds: .max)

  /// Microseconds since the clock's origin, rounded down.
  @inlinable public var microseconds: Int64 { nanoseconds / 1_000 }
  /// Milliseconds since the clock's origin, rounded down.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// The moment in units of a clock of `rate` hertz, rounded towards zero; see `TimeDelta.ticks(atRate:)`.
  @inlinable
  public func ticks(atRate rate: Int64) -> Int64 { TimeDelta(nanoseconds: nanoseconds).ticks(atRate: rate) }

  /// True when `a` is the earlier moment.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
  /// Saturates at `distantFuture`, so that "never + anything" stays never.
  @inlinable
  public static func + (a: Timestamp, b: TimeDelta) -> Timestamp {
    let (sum, overflow) = a.nanoseconds.addingReportingOverflow(b.nanoseconds)
    return Timestamp(nanoseconds: overflow ? .max : sum)
  }
  /// The moment `b` before `a`; wraps on overflow.
  @inlinable
  public static func - (a: Timestamp, b: TimeDelta) -> Timestamp {
    Timestamp(nanoseconds: a.nanoseconds &- b.nanoseconds)
  }
  /// The time from `b` to `a`, negative when `a` is earlier; wraps on overflow.
  @inlinable
  public static func - (a: Timestamp, b: Timestamp) -> TimeDelta {
    TimeDelta(nanoseconds: a.nanoseconds &- b.nanoseconds)
  }
  /// Moves `a` on by `b`; saturates at `distantFuture`.
  @inlinable
  public static func += (a: inout Timestamp, b: TimeDelta) { a = a + b }
}

/// A signed length of time in nanoseconds.
public struct TimeDelta: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// Nanoseconds; negative for a time that goes back.
  public var nanoseconds: Int64

  /// A time of so many nanoseconds.
  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// No time.
  public static let zero = TimeDelta(nanoseconds: 0)

  /// A time of `n` nanoseconds.
  @inlinable
  public static func nanoseconds(_ n: Int64) -> TimeDelta { TimeDelta(nanoseconds: n) }
  /// A time of `n` microseconds; traps on overflow.
  @inlinable
  public static func microseconds(_ n: Int64) -> TimeDelta { TimeDelta(nanoseconds: n * 1_000) }
  /// A time of `n` milliseconds; traps on overflow.
  @inlinable
  public static func milliseconds(_ n: Int64) -> TimeDelta { TimeDelta(nanoseconds: n * 1_000_000) }
  /// A time of `n` seconds; traps on overflow.
  @inlinable
  public static func seconds(_ n: Int64) -> TimeDelta { TimeDelta(nanoseconds: n * 1_000_000_000) }
  /// From fractional seconds; saturates at about ±292 years.
  @inlinable
  @_disfavoredOverload  // so that `.seconds(5)` is the whole number
  public static func seconds(_ n: Double) -> TimeDelta {
    TimeDelta(nanoseconds: Int64(max(-9.2e18, min(9.2e18, n * 1e9))))
  }

  /// Whole microseconds, rounded towards zero.
  @inlinable public var microseconds: Int64 { nanoseconds / 1_000 }
  /// Whole milliseconds, rounded towards zero.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }
  /// Seconds with their fraction.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// The time in units of a clock of `rate` hertz, rounded towards zero. Divides before it multiplies, so that no time
  /// overflows at any rate up to 1 GHz.
  @inlinable
  public func ticks(atRate rate: Int64) -> Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * rate + rest * rate / 1_000_000_000
  }
  /// The time that so many units of a clock of `rate` hertz take, rounded towards zero; saturates at about ±292 years.
  @inlinable
  public static func ticks(_ count: Int64, atRate rate: Int64) -> TimeDelta {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: rate)
    let longest: Int64 = 9_200_000_000
    return TimeDelta(
      nanoseconds: max(-longest, min(longest, seconds)) * 1_000_000_000 + rest * 1_000_000_000 / rate)
  }

  /// True when `a` is the shorter time; negative times come first.
  @inlinable
  public static func < (a: TimeDelta, b: TimeDelta) -> Bool { a.nanoseconds < b.nanoseconds }
  /// The sum; wraps on overflow.
  @inlinable
  public static func + (a: TimeDelta, b: TimeDelta) -> TimeDelta {
    TimeDelta(nanoseconds: a.nanoseconds &+ b.nanoseconds)
  }
  /// The difference; wraps on overflow.
  @inlinable
  public static func - (a: TimeDelta, b: TimeDelta) -> TimeDelta {
    TimeDelta(nanoseconds: a.nanoseconds &- b.nanoseconds)
  }
  /// `n` times `a`; wraps on overflow.
  @inlinable
  public static func * (a: TimeDelta, n: Int64) -> TimeDelta { TimeDelta(nanoseconds: a.nanoseconds &* n) }
  /// `a` divided by `n`, rounded towards zero; `n` must not be 0.
  @inlinable
  public static func / (a: TimeDelta, n: Int64) -> TimeDelta { TimeDelta(nanoseconds: a.nanoseconds / n) }
}
