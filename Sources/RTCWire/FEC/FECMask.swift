/// The packets that a repair packet protects, by their distance from a base sequence number: 0…127.
public struct FECMask: Hashable, Sendable, BitwiseCopyable {
  /// The highest bit is the packet at the base, as on the wire.
  private var bits: UInt128 = 0

  /// Protects nothing.
  public init() {}

  /// The first 64 packets, the highest bit the one at the base.
  public init(first: UInt64) { bits = UInt128(first) << 64 }

  /// True when no packet is protected.
  public var isEmpty: Bool { bits == 0 }
  /// Packets protected.
  public var count: Int { bits.nonzeroBitCount }
  /// The distance of the first protected packet; nil when there is none.
  public var first: Int? { bits == 0 ? nil : bits.leadingZeroBitCount }
  /// Packets from the base to the last that is protected, that one included.
  public var span: Int { bits == 0 ? 0 : 128 - bits.trailingZeroBitCount }

  /// Adds the packet at `distance`, 0…127.
  public mutating func insert(_ distance: Int) { bits |= Self.bit(distance) }

  /// Takes the packet at `distance` out, 0…127.
  public mutating func remove(_ distance: Int) { bits &= ~Self.bit(distance) }

  /// True when the packet at `distance` is protected; false for any outside 0…127.
  public func contains(_ distance: Int) -> Bool { (0..<128).contains(distance) && bits & Self.bit(distance) != 0 }

  /// `count` bits from `start` on, in the low bits.
  func field(_ start: Int, _ count: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: bits >> UInt128(128 - start - count)) & ((1 << UInt64(count)) - 1)
  }

  /// Adds `count` bits from `start` on, given in the low bits of `value`.
  mutating func insert(_ value: UInt64, at start: Int, count: Int) {
    bits |= UInt128(value & ((1 << UInt64(count)) - 1)) << UInt128(128 - start - count)
  }

  private static func bit(_ distance: Int) -> UInt128 { 1 << UInt128(127 - distance) }
}
