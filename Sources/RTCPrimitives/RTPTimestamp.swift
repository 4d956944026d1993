/// RTP timestamp (RFC 3550 §5.1), 32 bits, in units of the payload's clock rate (90 kHz for video).
public struct RTPTimestamp: SerialNumber {
  public var value: UInt32
  @inlinable
  public init(_ value: UInt32) { self.value = value }
}
