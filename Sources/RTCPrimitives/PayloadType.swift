/// RTP payload type (RFC 3550 §5.1), 0…127.
public struct PayloadType: Hashable, Sendable, BitwiseCopyable {
  public var value: UInt8
  @inlinable
  public init(_ value: UInt8) { self.value = value & 0x7F }
}
