public import RTCPrimitives

/// Picture loss indication: a viewer asks for a key frame (RFC 4585 §6.3.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|  FMT=1  |   PT=206      |          length=2             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of packet sender                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of media source                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct PictureLossIndication: Hashable, Sendable, BitwiseCopyable {
  /// The whole packet's length.
  public static let size = 12

  /// The SSRC of the packet's sender.
  public var sender: SSRC
  /// The stream a key frame is wanted on.
  public var media: SSRC

  /// A request by `sender` for a key frame of `media`.
  public init(sender: SSRC, media: SSRC) {
    self.sender = sender
    self.media = media
  }

  /// Nil when `packet` is no picture loss indication or too short for its two sources.
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .pictureLossIndication, let (sender, media) = packet.feedbackSources else { return nil }
    self.init(sender: sender, media: media)
  }

  /// Writes the whole packet, `size` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.payloadFeedback, count: 1, bodySize: 8)
    writer.write(sender.value)
    writer.write(media.value)
  }
}
