public import RTCPrimitives

/// Full intra request: a viewer asks for a key frame on each of the streams listed (RFC 5104 §4.3.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|  FMT=4  |   PT=206      |          length               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of packet sender                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  unused, 0                                    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of media source                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | seq nr.       |                  reserved                   … |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct FullIntraRequest: ~Escapable {
  /// One stream a key frame is wanted on.
  public struct Entry: Hashable, Sendable, BitwiseCopyable {
    /// The stream a key frame is wanted on.
    public var media: SSRC
    /// Goes up by one, wrapping, with each new request; a repetition of a request keeps it.
    public var commandSequenceNumber: UInt8

    /// A request for a key frame of `media`.
    public init(media: SSRC, commandSequenceNumber: UInt8) {
      self.media = media
      self.commandSequenceNumber = commandSequenceNumber
    }
  }

  /// The SSRC of the packet's sender.
  public let sender: SSRC
  private let entries: Span<UInt8>

  /// Nil when `packet` is no full intra request or lists no stream.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .fullIntraRequest, let (sender, _) = packet.feedbackSources else { return nil }
    let information = packet.feedbackInformation
    guard information.count >= 8 else { return nil }
    self.sender = sender
    entries = information
  }

  /// The number of streams a key frame is wanted on, at least 1.
  public var count: Int { entries.count / 8 }

  /// Entry `index`, which must be below `count`.
  public subscript(index: Int) -> Entry {
    Entry(media: SSRC(entries.networkOrder32(at: 8 * index)), commandSequenceNumber: entries[8 * index + 4])
  }

  /// The whole packet's length for one entry.
  public static let size = 20

  /// Writes a request for one stream.
  @_lifetime(writer: copy writer)
  public static func write(sender: SSRC, _ entry: Entry, into writer: inout ByteWriter) {
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.payloadFeedback, count: 4, bodySize: 16)
    writer.write(sender.value)
    writer.write(0 as UInt32)
    writer.write(entry.media.value)
    writer.write(UInt32(entry.commandSequenceNumber) << 24)
  }
}
