public import RTCPrimitives

/// DATA_CHANNEL_OPEN: asks for a channel on the stream it comes on (RFC 8832 §5.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Message Type | Channel Type  |            Priority           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Reliability Parameter                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Label Length          |       Protocol Length         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      Label, then Protocol                     …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct DataChannelOpen: Hashable, Sendable {
  /// The message type on the wire (RFC 8832 §8.2.1).
  public static let messageType: UInt8 = 3
  /// The bytes before the label.
  public static let headerSize = 12

  /// False when messages may overtake each other: the highest bit of the channel type.
  public var isOrdered: Bool
  /// How hard the channel tries to deliver each message: the rest of the channel type, and its parameter.
  public var reliability: DataChannelReliability
  /// RFC 8831 §6.4: 128 below normal, 256 normal, 512 high, 1024 extra high.
  public var priority: UInt16
  /// At most 65,535 bytes of UTF-8.
  public var label: String
  /// At most 65,535 bytes of UTF-8; empty: none.
  public var `protocol`: String

  /// Takes all values as they are; `write` traps when label or protocol is too long.
  public init(
    isOrdered: Bool = true, reliability: DataChannelReliability = .reliable, priority: UInt16 = 256,
    label: String = "", protocol: String = ""
  ) {
    self.isOrdered = isOrdered
    self.reliability = reliability
    self.priority = priority
    self.label = label
    self.protocol = `protocol`
  }

  /// Nil when `bytes` is no such message: another type, an unknown channel type, wrong lengths, or text that is not UTF-8.
  public init?(parsing bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard reader.readUInt8() == Self.messageType, let channelType = reader.readUInt8(),
      let priority = reader.readUInt16(), let parameter = reader.readUInt32(),
      let labelSize = reader.readUInt16(), let protocolSize = reader.readUInt16(),
      let label = reader.read(Int(labelSize)), let name = reader.read(Int(protocolSize)), reader.isAtEnd,
      let reliability = DataChannelReliability(channelType: channelType & 0x7F, parameter: parameter),
      let labelText = String(validatingUTF8: label), let protocolText = String(validatingUTF8: name)
    else { return nil }
    self.init(
      isOrdered: channelType & 0x80 == 0, reliability: reliability, priority: priority, label: labelText,
      protocol: protocolText)
  }

  /// The bytes `write` needs.
  public var size: Int { Self.headerSize + label.utf8.count + `protocol`.utf8.count }

  /// Writes the message. Label and protocol must each fit 65,535 bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(Self.messageType)
    writer.write(reliability.channelType | (isOrdered ? 0 : 0x80))
    writer.write(priority)
    writer.write(reliability.parameter)
    writer.write(UInt16(label.utf8.count))
    writer.write(UInt16(`protocol`.utf8.count))
    for byte in label.utf8 { writer.write(byte) }
    for byte in `protocol`.utf8 { writer.write(byte) }
  }
}

extension String {
  fileprivate init?(validatingUTF8 bytes: Span<UInt8>) {
    guard let text = String(validating: [UInt8](copying: bytes), as: UTF8.self) else { return nil }
    self = text
  }
}

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
