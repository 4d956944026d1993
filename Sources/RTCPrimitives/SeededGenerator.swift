/// A small deterministic generator (xoshiro256**, seeded through SplitMix64). Randomness below the network layer comes
/// from one of these, so that a seed replays a whole session. Not for keys: its output can be foretold from its past.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var a: UInt64
  private var b: UInt64
  private var c: UInt64
  private var d: UInt64

  /// A generator whose sequence `seed` determines; any seed will do.
  public init(seed: UInt64) {
    var state = seed
    func splitMix() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return z ^ z >> 31
    }
    a = splitMix()
    b = splitMix()
    c = splitMix()
    d = splitMix()
  }

  /// The next 64 bits of the sequence.
  public mutating func next() -> UInt64 {
    let product = b &* 5
    let result = (product << 7 | product >> 57) &* 9
    let shifted = b << 17
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = d << 45 | d >> 19
    return result
  }

  /// A number in 0 ..< 1, from 53 random bits.
  public mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
