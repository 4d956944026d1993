public import RTCPrimitives

/// The header of a received RTP packet (RFC 3550 §5.1), with the positions of extensions and payload.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|X|  CC   |M|     PT      |       sequence number         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           timestamp                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                             SSRC                              |
/// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
/// |                         CSRC (0…15)                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      defined by profile       |  length in 32-bit words (if X)|
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// Parse after SRTP has been undone: the padding length is encrypted. Packets to be sent are written by
/// `RTPOutgoingHeader`.
public struct RTPHeader: Hashable, Sendable {
  /// The length of a header without contributing sources or extensions.
  public static let fixedSize = 12
  /// P, in the first byte: the packet ends with padding, whose last byte says how long it is.
  public static let paddingFlag: UInt8 = 0x20

  /// M: its meaning is the payload format's; for video, the last packet of a frame.
  public let marker: Bool
  /// PT: the payload's format, 0…127.
  public let payloadType: PayloadType
  /// The packet's number in its stream.
  public let sequenceNumber: SequenceNumber
  /// When the payload was sampled, in units of the payload's clock rate.
  public let timestamp: RTPTimestamp
  /// The stream that the packet belongs to.
  public let ssrc: SSRC
  /// The "defined by profile" field of the extension block; nil when the packet has no block.
  public let extensionProfile: UInt16?
  /// The position of the extension elements in the packet, without the block's own four bytes; empty without any.
  public let extensions: Range<Int>
  /// The position of the payload in the packet, without padding.
  public let payload: Range<Int>

  /// Nil when the version is not 2, or a length or the padding points outside the packet.
  public init?(parsing packet: Span<UInt8>) {
    guard packet.count >= Self.fixedSize, packet[0] >> 6 == 2 else { return nil }
    let flags = packet[0]
    var offset = Self.fixedSize + 4 * Int(flags & 0x0F)
    var profile: UInt16?
    var elements = offset..<offset
    if flags & 0x10 != 0 {
      guard packet.count >= offset + 4 else { return nil }
      profile = packet.networkOrder16(at: offset)
      let size = 4 * Int(packet.networkOrder16(at: offset + 2))
      elements = offset + 4..<offset + 4 + size
      offset = elements.upperBound
    }
    guard offset <= packet.count else { return nil }
    var end = packet.count
    if flags & Self.paddingFlag != 0 {
      let padding = Int(packet[end - 1])
      guard padding > 0, padding <= end - offset else { return nil }
      end -= padding
    }
    marker = packet[1] & 0x80 != 0
    payloadType = PayloadType(packet[1])
    sequenceNumber = SequenceNumber(packet.networkOrder16(at: 2))
    timestamp = RTPTimestamp(packet.networkOrder32(at: 4))
    ssrc = SSRC(packet.networkOrder32(at: 8))
    extensionProfile = profile
    extensions = elements
    payload = offset..<end
  }

  /// Walks the extension elements of `packet`, the one this header was parsed from.
  @_lifetime(copy packet)
  public func extensionElements(in packet: Span<UInt8>) -> RTPHeaderExtensionElements {
    RTPHeaderExtensionElements(in: packet, block: extensions, profile: extensionProfile ?? 0)
  }
}

extension RTPHeader: CustomStringConvertible {
  /// The fields in one line for logs, with the payload's length in bytes.
  public var description: String {
    "RTP pt=\(payloadType.value) seq=\(sequenceNumber.value) ts=\(timestamp.value) ssrc=\(ssrc.value)"
      + "\(marker ? " marker" : "") payload=\(payload.count)"
  }
}
