/// The bits have ended, or violate the specification.
package struct BitstreamError: Error {}

/// Reads bits, most significant first, from a borrowed span, never past its end.
package struct BitReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var position = 0

  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  @_lifetime(self: copy self)
  package mutating func flag() throws(BitstreamError) -> Bool { try bits(1) == 1 }

  /// `count` bits, 0…32.
  @_lifetime(self: copy self)
  package mutating func bits(_ count: Int) throws(BitstreamError) -> Int {
    guard count <= bytes.count * 8 - position else { throw BitstreamError() }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
      position += 1
    }
    return value
  }

  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(BitstreamError) {
    guard count <= bytes.count * 8 - position else { throw BitstreamError() }
    position += count
  }

  /// Unsigned Exp-Golomb (ITU-T H.264 §9.1; AV1 §4.10.3 calls it uvlc): 0…2³²−2.
  @_lifetime(self: copy self)
  package mutating func unsignedGolomb() throws(BitstreamError) -> Int {
    var zeros = 0
    while try !flag() {
      zeros += 1
      guard zeros < 32 else { throw BitstreamError() }
    }
    return try (1 << zeros) - 1 + bits(zeros)
  }

  /// Signed Exp-Golomb (ITU-T H.264 §9.1.1).
  @_lifetime(self: copy self)
  package mutating func signedGolomb() throws(BitstreamError) -> Int {
    let value = try unsignedGolomb()
    return value & 1 == 1 ? value / 2 + 1 : -(value / 2)
  }
}
