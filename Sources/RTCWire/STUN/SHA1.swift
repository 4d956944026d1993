/// SHA-1 (RFC 3174), incremental. Only for STUN's MESSAGE-INTEGRITY, a few messages a second: written for memory safety,
/// not for speed.
package struct SHA1: BlockHash, Sendable {
  package typealias Digest = InlineArray<20, UInt8>

  private var state: InlineArray<5, UInt32> = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
  package var input = HashInput()

  package init() {}

  /// The digest of everything fed in so far.
  package consuming func finish() -> Digest {
    pad(stride(from: 56, through: 0, by: -8))
    var digest = Digest(repeating: 0)
    for i in 0..<20 { digest[i] = UInt8(truncatingIfNeeded: state[i / 4] >> UInt32(24 - 8 * (i % 4))) }
    return digest
  }

  package mutating func compress() {
    var w = InlineArray<80, UInt32>(repeating: 0)
    for t in 0..<16 {
      let high = UInt32(input.block[4 * t]) << 24 | UInt32(input.block[4 * t + 1]) << 16
      w[t] = high | UInt32(input.block[4 * t + 2]) << 8 | UInt32(input.block[4 * t + 3])
    }
    for t in 16..<80 { w[t] = Self.rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1) }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for t in 0..<80 {
      let mixed: UInt32
      let constant: UInt32
      switch t {
      case ..<20: (mixed, constant) = (b & c | ~b & d, 0x5A82_7999)
      case ..<40: (mixed, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
      case ..<60: (mixed, constant) = (b & c | b & d | c & d, 0x8F1B_BCDC)
      default: (mixed, constant) = (b ^ c ^ d, 0xCA62_C1D6)
      }
      let next = Self.rotate(a, 5) &+ mixed &+ e &+ w[t] &+ constant
      (a, b, c, d, e) = (next, a, Self.rotate(b, 30), c, d)
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
  }

  private static func rotate(_ value: UInt32, _ bits: UInt32) -> UInt32 { value << bits | value >> (32 - bits) }
}
