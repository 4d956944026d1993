import RTCPrimitives
import RTCWire

/// Puts chunks into packets: as many into each as fit (RFC 9260 §6.10).
struct PacketBuilder: ~Copyable {
  var packets = SCTPPackets()
  /// The ports of every packet.
  var (localPort, remotePort) = (UInt16(0), UInt16(0))
  /// The tag that the peer chose.
  var verificationTag: UInt32 = 0
  /// True when the peer does not look at checksums (RFC 9653).
  var omitsChecksum = false
  /// The most bytes of a packet, a multiple of 4.
  let packetSize: Int
  private var isOpen = false

  init(packetSize: Int) { self.packetSize = max(512, packetSize & ~3) }

  /// The most bytes of chunks in a packet.
  var capacity: Int { packetSize - SCTPPacket.headerSize }
  /// The bytes of chunks that still fit the packet that is being written.
  var room: Int { isOpen ? packetSize - packets.openSize : capacity }
  /// True when the packet that is being written has chunks.
  var hasChunks: Bool { isOpen }

  /// Adds a chunk of `size` bytes, padding included; in a new packet where it does not fit the open one.
  mutating func add(_ size: Int, _ body: (inout ByteWriter) -> Void) {
    if size > room { close() }
    if !isOpen { open(verificationTag) }
    packets.append(size, body)
  }

  /// Ends the packet that is being written, if one is.
  mutating func close() {
    guard isOpen else { return }
    packets.close(withChecksum: !omitsChecksum)
    isOpen = false
  }

  /// Adds a packet with one chunk, its checksum and any tag: what belongs to no association yet, and COOKIE ECHO (RFC 9653 §5.2).
  mutating func addAlone(_ size: Int, tag: UInt32, _ body: (inout ByteWriter) -> Void) {
    close()
    open(tag)
    packets.append(size, body)
    packets.close(withChecksum: true)
    isOpen = false
  }

  private mutating func open(_ tag: UInt32) {
    isOpen = true
    let (source, destination) = (localPort, remotePort)
    packets.append(SCTPPacket.headerSize) {
      SCTPPacket.writeHeader(sourcePort: source, destinationPort: destination, verificationTag: tag, into: &$0)
    }
  }
}
