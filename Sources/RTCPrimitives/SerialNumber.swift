/// A number that wraps around (RFC 1982). Wrapping order is asked for by name, never by `<`:
/// serial numbers have no total order.
public protocol SerialNumber: Hashable, Sendable, BitwiseCopyable {
  associatedtype Value: FixedWidthInteger & UnsignedInteger & Sendable
  var value: Value { get }
  init(_ value: Value)
}

extension SerialNumber {
  /// This number advanced by `n` (which may be negative), wrapping.
  @inlinable
  public func advanced(by n: Int) -> Self { Self(value &+ Value(truncatingIfNeeded: n)) }

  /// True when this number comes after `other` within half the number space (RFC 1982 §3.2).
  @inlinable
  public func isNewer(than other: Self) -> Bool {
    let d = value &- other.value
    return d != 0 && d < (Value.max / 2 + 1)
  }

  /// The signed distance from `other` to this number, in −half … half−1.
  @inlinable
  public func distance(from other: Self) -> Int {
    let d = value &- other.value
    return d > Value.max / 2 ? -Int(truncatingIfNeeded: other.value &- value) : Int(truncatingIfNeeded: d)
  }
}

/// RTP sequence number (RFC 3550 §5.1), 16 bits.
public struct SequenceNumber: SerialNumber {
  /// The 16 bits on the wire.
  public var value: UInt16
  /// The sequence number with these 16 bits.
  @inlinable
  public init(_ value: UInt16) { self.value = value }
}

/// A serial number continued to 64 bits, so that it never wraps and is ordered.
/// `low` is the number on the wire; the upper bits count the wraps.
public struct Extended<Number: SerialNumber>: Hashable, Comparable, Sendable {
  /// The number in 64 bits: the low bits are those on the wire, the upper ones count the wraps.
  public var value: Int64
  /// The extended number `value`.
  @inlinable
  public init(_ value: Int64) { self.value = value }
  /// The number as it stands on the wire.
  @inlinable public var low: Number { Number(Number.Value(truncatingIfNeeded: value)) }
  /// True when `a` comes first; unlike numbers on the wire, extended ones have a total order.
  @inlinable
  public static func < (a: Self, b: Self) -> Bool { a.value < b.value }

  /// The extended number nearest to this one whose wire form is `number`. A remote peer chooses the numbers, and its leaps add
  /// up: the sum wraps, and never traps.
  @inlinable
  public func nearest(_ number: Number) -> Self { Self(value &+ Int64(number.distance(from: low))) }
}
