/// The block of 64 bytes that a hash is gathering, and how much came before it.
package struct HashInput: Sendable {
  fileprivate(set) var block = InlineArray<64, UInt8>(repeating: 0)
  fileprivate var filled = 0
  fileprivate var length: UInt64 = 0
}

/// A hash over blocks of 64 bytes whose last one ends with the length (RFC 1321 §3, RFC 3174 §4).
package protocol BlockHash {
  /// The bytes that are not part of the state yet.
  var input: HashInput { get set }
  /// Takes the full block into the state.
  mutating func compress()
}

extension BlockHash {
  package mutating func update(_ bytes: Span<UInt8>) {
    for i in bytes.indices { update(bytes[i]) }
  }

  package mutating func update(_ byte: UInt8) {
    input.block[input.filled] = byte
    input.filled += 1
    input.length &+= 1
    if input.filled == 64 {
      compress()
      input.filled = 0
    }
  }

  /// Adds the padding and, last, the number of bits so far.
  /// - Parameter shifts: of its eight bytes, in the order of the hash.
  mutating func pad(_ shifts: some Sequence<Int>) {
    let bits = input.length &* 8
    update(0x80)
    while input.filled != 56 { update(0) }
    for shift in shifts { update(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
  }
}
