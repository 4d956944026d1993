/// SCTP packets that one step wants sent, in order; each goes into one DTLS record (RFC 8261).
package struct SCTPPackets: ~Copyable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// No packets.
  package init() {}

  /// The number of packets.
  package var count: Int { ends.count }
  /// True when there are no packets.
  package var isEmpty: Bool { ends.isEmpty }

  /// The bytes of packet `index`.
  @_lifetime(borrow self)
  package func packet(_ index: Int) -> Span<UInt8> {
    bytes.span.extracting((index == 0 ? 0 : ends[index - 1])..<ends[index])
  }

  /// Forgets all packets and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ packet: UnsafeRawBufferPointer) {
    unsafe bytes.append(contentsOf: packet)
    ends.append(bytes.count)
  }

  mutating func move(from other: inout SCTPPackets) {
    guard !other.isEmpty else { return }
    if isEmpty {
      swap(&self, &other)
      return
    }
    for end in other.ends { ends.append(bytes.count + end) }
    bytes.append(contentsOf: other.bytes)
    other.removeAll()
  }
}
