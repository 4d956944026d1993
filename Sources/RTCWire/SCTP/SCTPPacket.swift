public import RTCPrimitives

/// An SCTP packet: the common header, then chunks (RFC 9260 §3).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Source Port Number       |    Destination Port Number    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Verification Tag                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           Checksum                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                            Chunks                             …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// The checksum is the only field in SCTP whose lowest byte goes first.
public struct SCTPPacket: ~Escapable {
  /// The common header's length in bytes.
  public static let headerSize = 12

  /// The sender's port.
  public let sourcePort: UInt16
  /// The receiver's port.
  public let destinationPort: UInt16
  /// The tag that the receiver chose; 0 in a packet with INIT.
  public let verificationTag: UInt32
  /// The checksum as it stands in the packet.
  public let checksum: UInt32
  private let bytes: Span<UInt8>

  /// Nil when there is no room for a header and a chunk. The checksum is not looked at.
  @_lifetime(copy bytes)
  public init?(parsing bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard let source = reader.readUInt16(), let destination = reader.readUInt16(), let tag = reader.readUInt32(),
      let checksum = reader.readUInt32(), reader.remaining >= SCTPChunk.headerSize
    else { return nil }
    sourcePort = source
    destinationPort = destination
    verificationTag = tag
    self.checksum = checksum.byteSwapped
    self.bytes = bytes
  }

  /// Whether the checksum is correct.
  public var hasCorrectChecksum: Bool {
    CRC32C.checksum(bytes.extracting(0..<8), zeros: 4, bytes.extracting(12..<bytes.count)) == checksum
  }

  /// The packet's chunks.
  public var chunks: SCTPChunks {
    @_lifetime(copy self)
    get { SCTPChunks(bytes.extracting(Self.headerSize..<bytes.count)) }
  }

  /// Writes a header whose checksum is zero: as it goes out where both sides agreed to that (RFC 9653), or until
  /// `writeChecksum`.
  @_lifetime(writer: copy writer)
  public static func writeHeader(
    sourcePort: UInt16, destinationPort: UInt16, verificationTag: UInt32, into writer: inout ByteWriter
  ) {
    writer.write(sourcePort)
    writer.write(destinationPort)
    writer.write(verificationTag)
    writer.write(UInt32(0))
  }

  /// Puts its checksum into a finished packet whose checksum field is zero.
  @_lifetime(packet: copy packet)
  public static func writeChecksum(into packet: inout MutableSpan<UInt8>) {
    let checksum = CRC32C.checksum(packet.span)
    for i in 0..<4 { packet[8 + i] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * i)) }
  }
}
