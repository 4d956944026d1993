public import RTCPrimitives

/// The fields of RTP headers whose exclusive or a repair packet contains (RFC 5109 §7.3, and the same in
/// draft-ietf-payload-flexible-fec-scheme-03 §4.2). Combined with all protected packets but one, they give the fields
/// of that one.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|X|  CC   |M|     PT      |  bytes behind the first 12    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           timestamp                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct FECRecoveryFields: Hashable, Sendable, BitwiseCopyable {
  /// P, X and CC in their places; the two bits of the version are 0.
  public var flags: UInt8 = 0
  /// M and PT in their places.
  public var markerAndType: UInt8 = 0
  /// Bytes behind the fixed header: contributing sources, extensions, payload and padding.
  public var length: UInt16 = 0
  /// The RTP timestamp.
  public var timestamp: UInt32 = 0

  /// The fields of no packet: zeros.
  public init() {}

  /// The fields of `packet`, which must have a complete fixed header.
  public init(_ packet: Span<UInt8>) {
    flags = packet[0] & 0x3F
    markerAndType = packet[1]
    length = UInt16(truncatingIfNeeded: packet.count - RTPHeader.fixedSize)
    timestamp = packet.networkOrder32(at: 4)
  }

  /// Adds a packet's fields, or takes them out again: both are exclusive or.
  public mutating func combine(_ other: FECRecoveryFields) {
    flags ^= other.flags
    markerAndType ^= other.markerAndType
    length ^= other.length
    timestamp ^= other.timestamp
  }

  /// Writes the fixed header of the packet whose fields these are, 12 bytes.
  @_lifetime(writer: copy writer)
  public func writeHeader(number: SequenceNumber, ssrc: SSRC, into writer: inout ByteWriter) {
    writer.write(0x80 | flags & 0x3F)
    writer.write(markerAndType)
    writer.write(number.value)
    writer.write(timestamp)
    writer.write(ssrc.value)
  }
}
