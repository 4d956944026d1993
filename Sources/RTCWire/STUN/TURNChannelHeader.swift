/// The header of a ChannelData message (RFC 8656 §12.4). The first two bits, 01, tell it from STUN (00).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |  channel number 0x4000…0x4FFF |  length of the data in bytes  |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |      application data …                                       |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct TURNChannelHeader: Hashable, Sendable, BitwiseCopyable {
  /// Bytes on the wire.
  public static let size = 4
  /// The channel numbers that a client may bind (RFC 8656 §12).
  public static let numbers: ClosedRange<UInt16> = 0x4000...0x4FFF

  /// The number of the channel.
  public var number: UInt16
  /// The bytes of data that follow, padding not counted.
  public var length: UInt16

  /// The header in front of `length` bytes; nothing is checked.
  @inlinable
  public init(number: UInt16, length: UInt16) {
    self.number = number
    self.length = length
  }

  /// Reads the header of `message`: nil when the number is none of a channel, or when less data follows than the header says.
  /// Padding behind the data is passed over.
  @inlinable
  public init?(parsing message: Span<UInt8>) {
    guard message.count >= Self.size else { return nil }
    number = UInt16(message[0]) << 8 | UInt16(message[1])
    length = UInt16(message[2]) << 8 | UInt16(message[3])
    guard Self.numbers.contains(number), Int(length) <= message.count - Self.size else { return nil }
  }

  /// Whether the first byte is that of ChannelData (RFC 7983 §7).
  @inlinable
  public static func isLikely(_ datagram: Span<UInt8>) -> Bool { datagram.count >= size && datagram[0] >> 4 == 4 }

  /// The four bytes as one number in network order.
  @inlinable public var word: UInt32 { UInt32(number) << 16 | UInt32(length) }
}

extension TURNChannelHeader: CustomStringConvertible {
  /// Channel and length, for logs.
  public var description: String { "channel 0x\(String(number, radix: 16)), \(length) bytes" }
}
