/// RTP payload type (RFC 3550 §5.1), 0…127.
public struct PayloadType: Hashable, Sendable, BitwiseCopyable {
  /// The number; `init` keeps it to 0…127.
  public var value: UInt8
  /// Takes the low seven bits of `value`; the eighth is the marker bit in an RTP header.
  @inlinable
  public init(_ value: UInt8) { self.value = value & 0x7F }
}
