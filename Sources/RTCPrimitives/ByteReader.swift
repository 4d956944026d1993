/// Reads network-order fields from a borrowed span, never past its end: every read returns nil when too little is left,
/// and then consumes nothing.
public struct ByteReader: ~Escapable {
  /// The whole span, including the consumed part.
  public let bytes: Span<UInt8>
  /// The number of bytes consumed so far.
  public private(set) var offset = 0

  /// Starts at the first byte of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// The number of bytes left.
  public var remaining: Int { bytes.count - offset }
  /// True when all bytes are consumed.
  public var isAtEnd: Bool { remaining == 0 }

  /// The next byte; nil at the end.
  @_lifetime(self: copy self)
  public mutating func readUInt8() -> UInt8? {
    guard remaining >= 1 else { return nil }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// The next two bytes, in network order; nil when fewer are left.
  @_lifetime(self: copy self)
  public mutating func readUInt16() -> UInt16? { readInteger(bytes: 2).map { UInt16($0) } }
  /// The next four bytes, in network order; nil when fewer are left.
  @_lifetime(self: copy self)
  public mutating func readUInt32() -> UInt32? { readInteger(bytes: 4).map { UInt32($0) } }
  /// The next eight bytes, in network order; nil when fewer are left.
  @_lifetime(self: copy self)
  public mutating func readUInt64() -> UInt64? { readInteger(bytes: 8) }

  /// The next `count` bytes as a span, or nil when fewer are left (or `count` is negative).
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func read(_ count: Int) -> Span<UInt8>? {
    guard count >= 0, remaining >= count else { return nil }
    let span = bytes.extracting(offset..<offset + count)
    offset += count
    return span
  }

  /// All bytes left.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func readRest() -> Span<UInt8> {
    let span = bytes.extracting(offset..<bytes.count)
    offset = bytes.count
    return span
  }

  /// Passes over `count` bytes; false (and nothing consumed) when fewer are left.
  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, remaining >= count else { return false }
    offset += count
    return true
  }

  @_lifetime(self: copy self)
  private mutating func readInteger(bytes count: Int) -> UInt64? {
    guard remaining >= count else { return nil }
    var value: UInt64 = 0
    for i in offset..<offset + count { value = value << 8 | UInt64(bytes[i]) }
    offset += count
    return value
  }
}
