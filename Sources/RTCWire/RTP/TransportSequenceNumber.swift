public import RTCPrimitives

/// The number of a packet among all packets of a transport, for congestion control: the transport-wide-cc header
/// extension (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2): 16 bits in network order.
public struct TransportSequenceNumber: SerialNumber {
  /// The length of the element's data in bytes, as it is written.
  public static let size = 2
  /// Stands where the real number is patched in later.
  public static let placeholder = TransportSequenceNumber(0)

  /// The 16 bits on the wire.
  public let value: UInt16
  /// The number with these 16 bits.
  public init(_ value: UInt16) { self.value = value }

  /// The data of a header extension element. Four bytes are accepted too: version 02 of the extension
  /// appends a feedback request, which is not looked at.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size || data.count == Self.size + 2 else { return nil }
    value = data.networkOrder16(at: 0)
  }

  /// Writes the element's data, two bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(value) }
}
