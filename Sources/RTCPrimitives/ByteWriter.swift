/// Writes network-order fields into a caller's buffer. Writing past the end traps: the caller has reserved the room,
/// so running out is a programming error, not a peer's.
public struct ByteWriter: ~Escapable, ~Copyable {
  private var bytes: MutableSpan<UInt8>
  /// The number of bytes written so far.
  public private(set) var offset = 0

  /// Starts at the first byte of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: consuming MutableSpan<UInt8>) { self.bytes = bytes }

  /// The room left, in bytes.
  public var remaining: Int { bytes.count - offset }

  /// The bytes written so far, for checksums.
  public var written: Span<UInt8> {
    @_lifetime(borrow self)
    get { bytes.span.extracting(0..<offset) }
  }

  /// Writes one byte.
  @_lifetime(self: copy self)
  public mutating func write(_ value: UInt8) {
    bytes[offset] = value
    offset += 1
  }
  /// Writes two bytes in network order.
  @_lifetime(self: copy self)
  public mutating func write(_ value: UInt16) { write(UInt64(value), bytes: 2) }
  /// The low three bytes of `value`.
  @_lifetime(self: copy self)
  public mutating func writeUInt24(_ value: UInt32) { write(UInt64(value), bytes: 3) }
  /// Writes four bytes in network order.
  @_lifetime(self: copy self)
  public mutating func write(_ value: UInt32) { write(UInt64(value), bytes: 4) }
  /// Writes eight bytes in network order.
  @_lifetime(self: copy self)
  public mutating func write(_ value: UInt64) { write(value, bytes: 8) }

  /// Copies all bytes of `source`, which must fit into the room left.
  @_lifetime(self: copy self)
  public mutating func write(_ source: Span<UInt8>) {
    precondition(source.count <= remaining, "ByteWriter: no room for the span")
    var part = bytes._mutatingExtracting(offset..<offset + source.count)
    part.copy(from: source)
    offset += source.count
  }

  /// `count` bytes of `value`.
  @_lifetime(self: copy self)
  public mutating func write(repeating value: UInt8, count: Int) {
    for _ in 0..<count { write(value) }
  }

  /// Overwrites two bytes written earlier, for lengths known only afterwards.
  @_lifetime(self: copy self)
  public mutating func overwrite(_ value: UInt16, at position: Int) {
    bytes[position] = UInt8(value >> 8)
    bytes[position + 1] = UInt8(truncatingIfNeeded: value)
  }

  @_lifetime(self: copy self)
  private mutating func write(_ value: UInt64, bytes count: Int) {
    for i in 0..<count { bytes[offset + i] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - i))) }
    offset += count
  }
}

extension MutableSpan where Element == UInt8 {
  /// Copies `source` to the start of this span, which must be at least as long.
  @inlinable
  @_lifetime(self: copy self)
  public mutating func copy(from source: Span<UInt8>) {
    precondition(source.count <= count, "copy: the source is longer than the destination")
    unsafe withUnsafeMutableBytes { to in
      // Both spans are valid for their counts, and exclusivity keeps a mutable span from overlapping a borrowed one.
      unsafe source.withUnsafeBytes { from in unsafe to.copyMemory(from: from) }
    }
  }

  /// Makes each byte the exclusive or of itself and `other`'s, which is as long.
  @_lifetime(self: copy self)
  package mutating func combine(_ other: Span<UInt8>) {
    precondition(count == other.count, "combine: the lengths differ")
    for index in 0..<count { self[index] ^= other[index] }
  }
}
