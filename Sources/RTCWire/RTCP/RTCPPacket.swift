import RTCPrimitives

/// The kind of an RTCP packet, by its packet type and, for feedback, its format (RFC 3550 §12.1, RFC 4585 §6.1, RFC
/// 5104 §4.3, RFC 3611 §2).
public enum RTCPPacketKind: Hashable, Sendable, BitwiseCopyable {
  case senderReport
  case receiverReport
  case sourceDescription
  case goodbye
  case genericNACK
  case transportFeedback
  case pictureLossIndication
  case fullIntraRequest
  /// Payload-specific feedback of format 15; REMB is one.
  case applicationLayerFeedback
  case extendedReport
  /// Valid RTCP this stack has no use for.
  case other

  init(type: UInt8, format: UInt8) {
    switch (type, format) {
    case (RTCPPacket.TypeCode.senderReport, _): self = .senderReport
    case (RTCPPacket.TypeCode.receiverReport, _): self = .receiverReport
    case (RTCPPacket.TypeCode.sourceDescription, _): self = .sourceDescription
    case (RTCPPacket.TypeCode.goodbye, _): self = .goodbye
    case (RTCPPacket.TypeCode.transportFeedback, 1): self = .genericNACK
    case (RTCPPacket.TypeCode.transportFeedback, 15): self = .transportFeedback
    case (RTCPPacket.TypeCode.payloadFeedback, 1): self = .pictureLossIndication
    case (RTCPPacket.TypeCode.payloadFeedback, 4): self = .fullIntraRequest
    case (RTCPPacket.TypeCode.payloadFeedback, 15): self = .applicationLayerFeedback
    case (RTCPPacket.TypeCode.extendedReport, _): self = .extendedReport
    default: self = .other
    }
  }
}

/// One packet of an RTCP compound, borrowed from the datagram (RFC 3550 §6.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P| count/F |  packet type  |  length in 32-bit words − 1   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                            body …                             |
/// ```
///
/// Feedback packets begin their body with the sender's SSRC and the media source's SSRC (RFC 4585 §6.1).
public struct RTCPPacket: ~Escapable {
  /// The length of the common header.
  public static let headerSize = 4

  enum TypeCode {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206
    static let extendedReport: UInt8 = 207
  }

  /// The kind of the packet.
  public let kind: RTCPPacketKind
  /// The five bits after the padding bit: a number of blocks, or the feedback format.
  public let count: Int
  /// The bytes behind the common header, without padding.
  public let body: Span<UInt8>

  @_lifetime(copy body)
  init(kind: RTCPPacketKind, count: Int, body: Span<UInt8>) {
    self.kind = kind
    self.count = count
    self.body = body
  }

  /// The sender's and the media source's SSRC of a feedback packet; nil when the body is too short for them.
  var feedbackSources: (sender: SSRC, media: SSRC)? {
    guard body.count >= 8 else { return nil }
    return (SSRC(body.networkOrder32(at: 0)), SSRC(body.networkOrder32(at: 4)))
  }

  /// The feedback control information behind the two sources. Only after `feedbackSources` was not nil.
  var feedbackInformation: Span<UInt8> {
    @_lifetime(copy self)
    get { body.extracting(8..<body.count) }
  }
}

extension ByteWriter {
  /// Writes the common header of an RTCP packet whose body is `bodySize` bytes, a multiple of 4.
  @_lifetime(self: copy self)
  mutating func writeRTCPHeader(type: UInt8, count: Int, bodySize: Int) {
    precondition(bodySize & 3 == 0 && count < 32, "RTCP: a body is whole words, and a count has five bits")
    write(0x80 | UInt8(count))
    write(type)
    write(UInt16(bodySize / 4))
  }
}
