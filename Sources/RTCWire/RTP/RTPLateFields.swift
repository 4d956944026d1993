/// The positions of the fields in a written packet that are known only at the moment of sending. Four bytes, to be kept
/// beside a queued packet.
public struct RTPLateFields: Hashable, Sendable, BitwiseCopyable {
  /// 0 when the field is not on the packet: offset 0 is the packet's first byte and never a field.
  private var absSendTime: UInt16 = 0
  private var transportSequenceNumber: UInt16 = 0

  /// A packet with neither field.
  public init() {}

  /// The byte offset from the packet's start of the three bytes of abs-send-time, nil when it is not on the packet.
  public var absSendTimeOffset: Int? { absSendTime == 0 ? nil : Int(absSendTime) }
  /// The byte offset from the packet's start of the two bytes of the transport-wide sequence number, nil when it is
  /// not on the packet.
  public var transportSequenceNumberOffset: Int? {
    transportSequenceNumber == 0 ? nil : Int(transportSequenceNumber)
  }

  /// Writes the two fields if `packet`, which begins at the span's start, has them. Call it just before SRTP encrypts
  /// the packet.
  @_lifetime(packet: copy packet)
  public func patch(
    _ packet: inout MutableSpan<UInt8>, absSendTime time: AbsoluteSendTime,
    transportSequenceNumber number: TransportSequenceNumber
  ) {
    if let offset = absSendTimeOffset {
      packet[offset] = UInt8(truncatingIfNeeded: time.value >> 16)
      packet[offset + 1] = UInt8(truncatingIfNeeded: time.value >> 8)
      packet[offset + 2] = UInt8(truncatingIfNeeded: time.value)
    }
    if let offset = transportSequenceNumberOffset {
      packet[offset] = UInt8(truncatingIfNeeded: number.value >> 8)
      packet[offset + 1] = UInt8(truncatingIfNeeded: number.value)
    }
  }

  mutating func setAbsSendTimeOffset(_ offset: Int) { absSendTime = UInt16(offset) }
  mutating func setTransportSequenceNumberOffset(_ offset: Int) { transportSequenceNumber = UInt16(offset) }
}
