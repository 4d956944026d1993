/// A data rate in bits per second.
public struct BitRate: Hashable, Comparable, Sendable, BitwiseCopyable {
  /// Bits per second; the type permits negative values.
  public var bitsPerSecond: Int64

  /// A rate of so many bits per second.
  @inlinable
  public init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

  /// 0 bit/s.
  public static let zero = BitRate(bitsPerSecond: 0)

  /// A rate of `n` bit/s.
  @inlinable
  public static func bitsPerSecond(_ n: Int64) -> BitRate { BitRate(bitsPerSecond: n) }
  /// A rate of `n` kbit/s, 1,000 bit/s each; traps on overflow.
  @inlinable
  public static func kilobitsPerSecond(_ n: Int64) -> BitRate { BitRate(bitsPerSecond: n * 1_000) }
  /// A rate of `n` Mbit/s, 1,000,000 bit/s each; traps on overflow.
  @inlinable
  public static func megabitsPerSecond(_ n: Int64) -> BitRate { BitRate(bitsPerSecond: n * 1_000_000) }

  /// True when `a` is the lower rate.
  @inlinable
  public static func < (a: BitRate, b: BitRate) -> Bool { a.bitsPerSecond < b.bitsPerSecond }

  /// Scaled by `factor`, rounded to the nearest bit per second.
  @inlinable
  public func scaled(by factor: Double) -> BitRate {
    BitRate(bitsPerSecond: Int64((Double(bitsPerSecond) * factor).rounded()))
  }

  /// Whole bytes sent at this rate within `time`; zero for negative times.
  @inlinable
  public func bytes(in time: TimeDelta) -> Int {
    guard time.nanoseconds > 0 else { return 0 }
    return Int(Double(bitsPerSecond) * time.seconds / 8)
  }

  /// The time `bytes` take at this rate; "forever" (about 292 years) at a rate of zero.
  @inlinable
  public func time(forBytes bytes: Int) -> TimeDelta {
    guard bitsPerSecond > 0 else { return TimeDelta(nanoseconds: .max) }
    return .seconds(Double(bytes) * 8 / Double(bitsPerSecond))
  }
}
