/// The number of a source's packets: the roll-over counter (ROC) and the sequence number, 48 bits (RFC 3711 §3.3.1).
package enum PacketIndex {
  /// How many a key may protect (RFC 3711 §9.2).
  package static let limit: UInt64 = 1 << 48

  /// The index of a packet: the one with its sequence number that is nearest to `highest`, the highest index so far;
  /// nil before the first, whose ROC is 0. If two are equally near, the ROC stays.
  /// - Throws: `keyExpired` if the ROC itself would roll over.
  package static func estimate(_ sequenceNumber: UInt16, after highest: UInt64?) throws(SRTPError) -> UInt64 {
    guard let highest else { return UInt64(sequenceNumber) }
    let last = UInt16(truncatingIfNeeded: highest)
    var counter = highest >> 16
    if last < 0x8000 {
      // The first ROC is 0.
      if Int(sequenceNumber) - Int(last) > 0x8000, counter > 0 { counter -= 1 }
    } else if last - 0x8000 > sequenceNumber {
      counter += 1
    }
    let index = counter << 16 | UInt64(sequenceNumber)
    guard index < limit else { throw .keyExpired }
    return index
  }
}
