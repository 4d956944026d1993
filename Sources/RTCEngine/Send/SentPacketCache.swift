package import RTCPrimitives

/// The last packets exactly as they left, for a remote peer that takes no RTX: the same sequence number must never protect
/// other bytes (RFC 3711 §9.1, RFC 7714 §8.2), and header extensions change from one sending to the next.
package struct SentPacketCache {
  package static let capacity = 512
  private static let slotSize = 1_280

  private var bytes = [UInt8](repeating: 0, count: Self.capacity * Self.slotSize)
  private var entries = [(number: SequenceNumber, count: Int)](repeating: (SequenceNumber(0), 0), count: Self.capacity)

  package init() {}

  package mutating func keep(_ number: SequenceNumber, _ packet: Span<UInt8>) {
    guard packet.count <= Self.slotSize else { return }
    let slot = Int(number.value) % Self.capacity
    entries[slot] = (number, packet.count)
    var all = bytes.mutableSpan
    var room = all._mutatingExtracting(slot * Self.slotSize..<(slot + 1) * Self.slotSize)
    room.copy(from: packet)
  }

  /// Copies the packet to the start of `datagram`.
  /// - Returns: its length, 0 when it is forgotten.
  @_lifetime(datagram: copy datagram)
  package func write(_ number: SequenceNumber, into datagram: inout MutableSpan<UInt8>) -> Int {
    let slot = Int(number.value) % Self.capacity
    let entry = entries[slot]
    guard entry.count > 0, entry.number == number else { return 0 }
    datagram.copy(from: bytes.span.extracting(slot * Self.slotSize..<slot * Self.slotSize + entry.count))
    return entry.count
  }
}
