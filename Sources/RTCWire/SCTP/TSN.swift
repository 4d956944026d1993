public import RTCPrimitives

/// Transmission sequence number: counts the DATA and I-DATA chunks of one direction (RFC 9260 §1.6), 32 bits.
public struct TSN: SerialNumber {
  /// The 32 bits on the wire.
  public var value: UInt32
  /// The transmission sequence number with these 32 bits.
  @inlinable
  public init(_ value: UInt32) { self.value = value }
}
