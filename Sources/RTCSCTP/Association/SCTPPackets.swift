import RTCPrimitives
import RTCWire

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

  /// The bytes of the packet that is being written.
  var openSize: Int { bytes.count - (ends.last ?? 0) }

  /// Lets `body` write `size` bytes, which are zero, at the end of the packet that is being written.
  mutating func append(_ size: Int, _ body: (inout ByteWriter) -> Void) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: size))
    var whole = bytes.mutableSpan
    var writer = ByteWriter(whole._mutatingExtracting(start..<start + size))
    body(&writer)
  }

  /// Ends the packet that is being written, with its checksum if it is to have one.
  mutating func close(withChecksum: Bool) {
    if withChecksum {
      let start = ends.last ?? 0
      var whole = bytes.mutableSpan
      let end = whole.count
      var packet = whole._mutatingExtracting(start..<end)
      SCTPPacket.writeChecksum(into: &packet)
    }
    ends.append(bytes.count)
  }

  /// Takes over the finished packets of `other`, in which none may be open.
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
