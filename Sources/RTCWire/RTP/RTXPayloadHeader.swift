public import RTCPrimitives

/// The start of a retransmission packet's payload (RFC 4588 §4): the original sequence number, then the original payload.
///
/// ```
///  0                   1
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-
/// |  original sequence number     |  original payload …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-
/// ```
public struct RTXPayloadHeader: Hashable, Sendable, BitwiseCopyable {
  /// The header's length in bytes.
  public static let size = 2

  /// The sequence number that the repeated packet has in its own stream.
  public var originalSequenceNumber: SequenceNumber

  /// The header of a repetition of the packet with this number.
  public init(originalSequenceNumber: SequenceNumber) { self.originalSequenceNumber = originalSequenceNumber }

  /// Nil if the payload is too short, as in a packet of padding only. The original payload begins after `size` bytes.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count >= Self.size else { return nil }
    originalSequenceNumber = SequenceNumber(payload.networkOrder16(at: 0))
  }

  /// Writes the header, two bytes; the original payload follows.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(originalSequenceNumber.value) }
}
