/// The received ones among a source's last `size` packets (RFC 3711 §3.3.2).
package struct ReplayWindow {
  package static let size = 1024

  /// The highest index that was taken; nil before the first.
  package private(set) var highest: UInt64?
  /// A bit for each of the last `size` indices, at its remainder.
  private var bits = InlineArray<16, UInt64>(repeating: 0)

  package init() {}

  /// - Throws: `replayed` or `tooOld` when a packet with this index is not to be taken.
  package func check(_ index: UInt64) throws(SRTPError) {
    guard let highest, index <= highest else { return }
    guard highest - index < UInt64(Self.size) else { throw .tooOld }
    let (word, bit) = Self.place(index)
    guard bits[word] & bit == 0 else { throw .replayed }
  }

  /// Takes `index`, which passed `check`.
  package mutating func take(_ index: UInt64) {
    if let highest, index > highest {
      // Packets that leave the window make room for the missing ones between the two.
      for passed in highest + 1..<min(index, highest + UInt64(Self.size)) + 1 {
        let (word, bit) = Self.place(passed)
        bits[word] &= ~bit
      }
    }
    let (word, bit) = Self.place(index)
    bits[word] |= bit
    highest = max(index, highest ?? index)
  }

  private static func place(_ index: UInt64) -> (word: Int, bit: UInt64) {
    let place = Int(truncatingIfNeeded: index) & (size - 1)
    return (place >> 6, 1 << UInt64(place & 63))
  }
}
