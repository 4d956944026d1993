public import RTCPrimitives

/// DATA_CHANNEL_ACK: the channel asked for on this stream is there (RFC 8832 §5.2).
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// |  Message Type |
/// +-+-+-+-+-+-+-+-+
/// ```
public struct DataChannelAck: Hashable, Sendable {
  /// The message type on the wire (RFC 8832 §8.2.1).
  public static let messageType: UInt8 = 2
  /// The message's length in bytes.
  public static let size = 1

  /// The acknowledgement, which has no fields.
  public init() {}

  /// Nil when `bytes` is another message.
  public init?(parsing bytes: Span<UInt8>) {
    guard bytes.count == Self.size, bytes[0] == Self.messageType else { return nil }
  }

  /// Writes the message, one byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(Self.messageType) }
}
